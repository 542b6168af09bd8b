import Basics
import QuakeFeed
import QuakeTool

@testable import CommandLine
@testable import QuakeClient
@testable import QuakeModel
@testable import QuakeQuery
@testable import QuakeServer

/// What a client sends to the server: the address and the fields of a request, parameters, frames of a WebSocket.
enum RequestTargets {
  static let all: [FuzzTarget] = [
    FuzzTarget(
      text: "http", longest: 2048, words: headerWords, seeds: headers, check: checkRequest),
    FuzzTarget(
      text: "filters", longest: 1024, words: optionWords + ["%2B", "%C3%A9", "+", "&", "=", ","],
      seeds: filters, check: checkFilters),
    FuzzTarget(
      text: "fdsn-parameters", longest: 1024,
      words: FDSNParameter.all.flatMap { ["&\($0.name)="] + $0.choices },
      seeds: [
        "starttime=2024-01-31T00:00:00&endtime=2024-02-01&minmag=4.5&format=text&limit=10&offset=2",
        "minlat=-10&maxlat=10&minlon=170&maxlon=190&orderby=magnitude&eventtype=earthquake, quarry blast",
        "lat=1&lon=2&minradius=0&maxradiuskm=100&includedeleted=only&format=geojson&catalog=us",
        "eventid=us1&includesuperseded=true&format=geojson&nodata=404&producttype=origin",
      ], check: checkService),
    FuzzTarget(
      name: "websocket", longest: 1024, seeds: { frames }, check: checkWebSocket),
  ]

  // MARK: - The address and the fields

  private static let headerWords = [
    "host: ", "range: bytes=", "if-none-match: ", "accept-encoding: ", "accept: ", "gzip;q=0.5",
    "text/event-stream", "application/x-ndjson", "last-event-id: ", "transfer-encoding: chunked",
    "content-length: ", "upgrade: websocket", "connection: upgrade", "sec-websocket-version: 13",
    "sec-websocket-key: ", "authorization: Bearer ", "W/\"", "x-forwarded-for: ", "fe80::1%eth0",
    "/v1/changes?", "after=", "wait=", "limit=", "http://",
  ]
  private static let headers = [
    "/v1/quakes?place=P%C4%81hala+Hawaii&limit=10\nhost: localhost:8080\naccept-encoding: br, gzip;q=0.5",
    "/v1/changes?after=1042.9f3ac2d1-7&wait=10\nhost: [::1]:8080\naccept: application/x-ndjson;q=0.3, */*;q=0.1",
    "http://a/b%2Fc?x\nrange: bytes=0-99\nif-none-match: W/\"abc\", *\nx-forwarded-for: ::1, fe80::1%eth0",
    "/x\nupgrade: websocket\nconnection: keep-alive, Upgrade\nsec-websocket-version: 13\n"
      + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\nlast-event-id: 0",
    "/x\ncontent-length: 1\ntransfer-encoding: chunked\nhost: a\nauthorization: Bearer abc",
  ]

  /// The first line is the address, and each other line a field.
  @Sendable private static func checkRequest(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var fields = HeaderFields()
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      fields.append(String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
    }
    checkFields(fields)
    guard let target = try? RequestTarget(lines[0]) else { return }
    requireReadable(target)
    var request = Request(
      method: .get, target: lines[0], path: target.path, segments: target.segments,
      query: target.query, client: "::1", baseURL: "http://localhost")
    request.headers = fields
    for order in [ChangeStreamParameters.order, ChangeStreamParameters.liveFeedOrder] {
      guard let order = try? order(request) else { continue }
      require(order.limit > 0, "a stream has at least one change")
    }
    if let answer = try? WebSocketHandshake.answer(request) {
      require(answer["sec-websocket-accept"]?.utf8.count == 28, "the proof is a hash in base64")
    }
  }

  /// An address that was accepted is read the same when it is written anew.
  private static func requireReadable(_ target: RequestTarget) {
    let all = target.segments + target.query.flatMap { [$0.name, $0.value] }
    require(
      all.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } },
      "an address has no control characters")
    require(target.query.count <= RequestTarget.mostParameters, "the parameters are limited")
    guard target.path.hasPrefix("/") else { return }
    var text = target.segments.map { PercentEncoding.text($0) }.joined(separator: "/")
    // A parameter without a name and a value is written as nothing.
    let items = target.query.filter { !$0.name.isEmpty || !$0.value.isEmpty }
    if !items.isEmpty {
      text +=
        "?"
        + items.map { "\(PercentEncoding.text($0.name))=\(PercentEncoding.text($0.value))" }
        .joined(separator: "&")
    }
    guard let again = try? RequestTarget(text) else { return require(false, "\(text) is read") }
    require(again.segments == target.segments, "\(text) has the same path")
    require(again.query == items, "\(text) has the same parameters")
  }

  private static func checkFields(_ fields: HeaderFields) {
    _ = HeaderFraming.problem(of: fields, isOld: false)
    _ = AcceptEncoding.acceptsGzip(fields.list("accept-encoding"))
    _ = EntityTags.contains(fields.list("if-none-match"), "\"abc\"")
    for size in [0, 1, 100, Int.max] {
      guard case .part(let range) = ByteRange(fields["range"], size: size) else { continue }
      require(!range.isEmpty && range.upperBound <= size, "a range lies in the body")
    }
    if let host = fields["host"] {
      if let listen = ListenAddress(host) {
        require(ListenAddress(listen.description) == listen, "\(listen) comes back")
      }
      for url in [nil, "https://quake.example.org/x"] {
        let names = HostNames(listen: ListenAddress(host: "127.0.0.1", port: 1), publicURL: url)
        let address = HostAddress(host)
        _ = names.accept(address, isHealth: false)
        guard let address, case .name(let name) = address.host else { continue }
        require(HostAddress("\(name):\(address.port)") == address, "\(address) comes back")
      }
      _ = TileURL(host)
    }
    for value in fields.fields.map(\.value) {
      require((1...2).contains(AddressGroup.groups(of: value).count), "an address has groups")
    }
    _ = try? AccessTokens(["a:\(String(repeating: "0", count: 64))"]).author(
      of: fields["authorization"], otherwise: "none")
    _ = try? AccessTokens(fields.fields.map(\.value))
  }

  // MARK: - Parameters

  private static let options = FilterOptions.events + FilterOptions.changes
  private static let optionWords = options.map { "&\($0.name)=" } + ["enters", "inf", "1e308"]
  private static let filters = [
    "min-magnitude=4.5&max_magnitude=9&place=Hawaii&place=P%C4%81hala&type=quarry_blast,earthquake",
    "from=2024-01-31&to=2024-02-01T00:00:00%2B01:00&bbox=170,-50,-170,50&within=100:35.7,-117.5",
    "op=insert,update&enters&leaves=0&magnitude-change=0.5&changed=magnitude,place&newer-than=1h30m",
    "code=us1,us2&network=us&source=emsc&alert=red&felt=5&status=REVIEWED&author=a&not-author=b&context=c",
    "last=7d&min-depth=-1&max-depth=700&application=psql&depth-change=1&place-change=1e3",
  ]

  private static func arguments(_ query: [QueryItem]) -> ParsedArguments? {
    try? ParsedArguments(
      url: "/v1/changes", options: options,
      parameters: query.map { (name: $0.name, value: $0.value) })
  }

  /// A filter written as a client writes it is read as the same filter, and selects the same events.
  @Sendable private static func checkFilters(_ text: String) {
    guard let target = try? RequestTarget("/x?" + text), let arguments = arguments(target.query),
      let filter = try? FilterOptions.filter(arguments)
    else { return }
    for event in FeedSamples.events { _ = filter.accepts(event, at: .latest) }
    if let area = try? FilterOptions.region(arguments) {
      let region = EventService.Region(box: area.boundingBox, circle: area.circle)
      for event in FeedSamples.events where filter.accepts(event) {
        require(region.contains(event), "an event that is selected lies in the region")
      }
    }
    // What is relative to now differs a moment later.
    let isFixed = !["last", "from", "to"].contains { arguments.isGiven($0) }
    let items = target.query.map { (name: $0.name, value: $0.value) }
    guard isFixed, let address = try? ServerAddress("http://localhost") else { return }
    let again = address.url("/x", items).dropFirst("http://localhost".utf8.count)
    guard let read = try? RequestTarget(String(again)) else { return require(false, "\(again)") }
    require(read.query == target.query, "\(again) has the same parameters")
    require(
      Self.arguments(read.query).flatMap { try? FilterOptions.filter($0) } == filter,
      "\(again) is the same filter")
  }

  @Sendable private static func checkService(_ text: String) {
    guard let target = try? RequestTarget("/x?" + text), let query = try? FDSNQuery(target.query)
    else { return }
    let now = Timestamp(microseconds: 1_700_000_000_000_000)
    let events = query.events(now: now)
    for event in FeedSamples.events { _ = events.filter.accepts(event) }
    if let limit = query.limit { require((0...FDSNQuery.mostEvents).contains(limit), "the limit") }
    require(query.offset >= 1, "the offset")
  }

  // MARK: - Frames

  private static let frames: [[UInt8]] = [
    [0x81, 0x85, 1, 2, 3, 4, 0x69, 0x67, 0x6F, 0x68, 0x6E], [0x89, 0x80, 0, 0, 0, 0],
    [0x88, 0x82, 0, 0, 0, 0, 3, 0xE8], [0x82, 0xFE, 0, 0x80, 0, 0, 0, 0], [0x81, 0x05],
    [0x01, 0x81, 0, 0, 0, 0, 0x41, 0x80, 0x81, 0, 0, 0, 0, 0x42],
    [0x82, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0],
    [0x88, 0xA1, 0xFF, 1, 0x2B, 0, 0x82, 0x23, 0xFD, 0x82],
  ]

  /// What is accepted at once is accepted in pieces, with the same kinds of answers but for pongs, of which the library
  /// leaves out those that it has not sent before the end. It may accept in pieces what it refuses at once, and in a close
  /// frame the other way round: it checks the frame's reason, which has no meaning here, without the first two bytes of
  /// each piece.
  @Sendable private static func checkWebSocket(_ bytes: [UInt8]) {
    let (whole, pieces) = (WebSocketInput(), WebSocketInput())
    let goesOn = bytes.withUnsafeBytes { whole.receive($0) }
    var piecesGoOn = true
    for piece in Pieces.cut(bytes) where piecesGoOn {
      piecesGoOn = piece.withUnsafeBytes { pieces.receive($0) }
    }
    let output = whole.takeOutput()
    let (answer, answerInPieces) = (kinds(output), kinds(pieces.takeOutput()))
    if goesOn, !bytes.contains(0x88) {
      require(piecesGoOn, "in pieces the connection goes on as well")
      require(
        answer == answerInPieces, "in pieces the answer is \(answerInPieces), at once \(answer)")
    }
    require(output.count <= 2 * bytes.count + 128, "the answer is not much longer than the input")
    let frame = bytes.withUnsafeBytes { WebSocketFrame.encode($0, .text) }
    require(
      frame.withUnsafeBytes { WebSocketFrame.size($0) } == frame.count, "the size of a frame")
  }

  /// The first bytes of the frames that are not pongs.
  private static func kinds(_ frames: [UInt8]) -> [UInt8] {
    var kinds: [UInt8] = []
    var rest = frames[...]
    while let size = Array(rest).withUnsafeBytes({ WebSocketFrame.size($0) }) {
      require(size <= rest.count, "an answer ends with a whole frame")
      if let first = rest.first, first != 0x8A { kinds.append(first) }
      rest = rest.dropFirst(size)
    }
    return kinds
  }
}
