import Basics
import Glibc
import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeServer

@Suite struct WebSocketTests {
  /// A client of the live feed.
  private final class Socket {
    let descriptor: Int32
    private var bytes: [UInt8] = []
    private(set) var lastCursor = "0"

    init(_ streams: ChangeStreams, _ order: StreamOrder) throws {
      var ends: [Int32] = [-1, -1]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      descriptor = ends[0]
      let taken = ends[1]
      var order = order
      order.form = .webSocket
      streams.add(TakenSocket(descriptor: taken) { close(taken) }, order)
    }

    deinit { close(descriptor) }

    /// The next frame; nil at the end.
    func next() throws -> (opcode: UInt8, payload: [UInt8])? {
      while true {
        let size = bytes.withUnsafeBytes { WebSocketFrame.size($0) }
        if let size, bytes.count >= size {
          let header = size < 128 ? 2 : size < 65_540 ? 4 : 10
          let frame = (bytes[0], Array(bytes[header..<size]))
          bytes.removeFirst(size)
          // Whole and not masked.
          #expect(frame.0 & 0xF0 == 0x80)
          return (frame.0 & 0x0F, frame.1)
        }
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        try #require(
          poll(&wanted, 1, ToolProcess.patience.pollTimeout) > 0, "no frame came in time")
        var part = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(descriptor, &part, part.count)
        guard count > 0 else {
          #expect(bytes.isEmpty, "the stream ends within a frame")
          return nil
        }
        bytes += part[..<count]
      }
    }

    /// The next message, without pings.
    func message() throws -> JSONLine {
      while let frame = try next() {
        guard frame.opcode == 1 else { continue }
        let line = try JSONLine(String(decoding: frame.payload, as: UTF8.self))
        lastCursor = line.string("cursor") ?? lastCursor
        return line
      }
      throw StreamProbe.Failure(description: "the stream has ended")
    }

    /// Sends a frame, masked as clients must.
    ///
    /// - Returns: False if the server has closed the connection.
    @discardableResult
    func send(_ opcode: UInt8, _ payload: [UInt8]) -> Bool {
      let mask: [UInt8] = [1, 2, 3, 4]
      var frame = [0x80 | opcode, 0x80 | UInt8(payload.count)] + mask
      for (index, byte) in payload.enumerated() { frame.append(byte ^ mask[index % 4]) }
      return Glibc.send(descriptor, frame, frame.count, Int32(MSG_NOSIGNAL)) == frame.count
    }
  }

  @Test func theProofOfTheStandardsExample() {
    #expect(
      WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
  }

  @Test(arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 200_000])
  func aFrameHasTheSizeOfItsMessage(size: Int) {
    let message = [UInt8](repeating: 65, count: size)
    let frame = message.withUnsafeBytes { WebSocketFrame.encode($0, .text) }
    #expect(frame.withUnsafeBytes { WebSocketFrame.size($0) } == frame.count)
    #expect(frame.first == 0x81)
    #expect(Array(frame.suffix(size)) == message)
  }

  @Test func anOldConnectionIsClosedInOrder() throws {
    var settings = StreamSettings.patient
    settings.heartbeat = .milliseconds(200)
    settings.longestAge = .milliseconds(1)
    let server = try ProbedServer(settings)
    let socket = try Socket(server.streams, StreamOrder())
    #expect(try socket.next()?.opcode == 9)
    var close = try #require(try socket.next())
    while close.opcode == 9 { close = try #require(try socket.next()) }
    // 1001: the server goes away.
    #expect(close.opcode == 8 && close.payload.prefix(2) == [0x03, 0xE9])
    #expect(try socket.next() == nil)
  }

  @Test func changesComeInEMSCsForm() throws {
    let server = try ProbedServer()
    let socket = try Socket(server.streams, StreamOrder())
    #expect(try socket.next()?.opcode == 9)  // a ping: it has caught up
    try server.run(
      """
      insert into quake.quake (code, time, magnitude, longitude, latitude, depth, place, type)
      values ('a', '2026-01-02T03:04:05Z', 5.5, 10.5, -20.25, 30, 'Here', 'earthquake')
      """,
      "update quake.quake set magnitude = 6 where code = 'a'",
      "update quake.quake set withdrawn_at = now() where code = 'a'",
      "update quake.quake set withdrawn_at = null where code = 'a'",
      "delete from quake.quake where code = 'a'", "truncate quake.quake cascade")
    let first = try socket.message()
    #expect(first.string("action") == "create")
    let feature = try #require(first["data"])
    #expect(feature.string("type") == "Feature")
    #expect(feature.string("id") == "a")
    #expect(feature["geometry"]?.string("type") == "Point")
    #expect(first.text.contains("\"coordinates\":[10.5,-20.25,-30]"))
    let properties = try #require(feature["properties"])
    #expect(
      properties.keys == [
        "source_id", "source_catalog", "lastupdate", "time", "flynn_region", "lat", "lon", "depth",
        "evtype", "auth", "mag", "magtype", "unid",
      ])
    #expect(properties.double("mag") == 5.5)
    #expect(properties.string("evtype") == "ke")
    var actions: [String] = []
    for _ in 0..<5 { actions.append(try socket.message().string("action") ?? "") }
    #expect(actions == ["update", "delete", "create", "delete", "truncate"])
  }

  @Test func aClientResumesAtItsCursor() throws {
    let server = try ProbedServer()
    for index in 0..<5 { try server.insert("e\(index)x", 3) }
    let history = try server.history()
    // From memory, and from the database by another server.
    for each in [server, try ProbedServer(on: server.database)] {
      var codes: [String] = []
      var cursor = HistoryCursor(token: .beginning)
      while codes.count < history.count {
        var order = StreamOrder()
        order.start = .after(cursor)
        let socket = try Socket(each.streams, order)
        for _ in 0..<min(4, history.count - codes.count) {
          codes.append(try socket.message()["data"]?.string("id") ?? "")
        }
        cursor = try #require(HistoryCursor(eventID: socket.lastCursor))
      }
      #expect(codes == history.map { String($0.split(separator: " ")[3]) })
    }
  }

  @Test func anInvalidCursorIsToldOnce() throws {
    let server = try ProbedServer()
    try server.insert("a")
    var order = StreamOrder()
    order.start = .after(try #require(HistoryCursor(eventID: "99.12345678")))
    let socket = try Socket(server.streams, order)
    let reset = try socket.message()
    #expect(reset.string("action") == "reset")
    #expect(reset.string("reason") == "future")
    try server.insert("b")
    #expect(try socket.message()["data"]?.string("id") == "b1")
  }

  @Test func pingsAndTheEndAreAnswered() throws {
    let server = try ProbedServer()
    let socket = try Socket(server.streams, StreamOrder())
    #expect(try socket.next()?.opcode == 9)
    socket.send(9, Array("are you there".utf8))
    let pong = try #require(try socket.next())
    #expect(pong.opcode == 10)
    #expect(pong.payload == Array("are you there".utf8))
    socket.send(1, Array("a message that means nothing".utf8))
    socket.send(8, [3, 232])
    #expect(try socket.next()?.opcode == 8)
    #expect(try socket.next() == nil)
    // What is no frame ends the connection as well.
    let other = try Socket(server.streams, StreamOrder())
    #expect(try other.next()?.opcode == 9)
    _ = write(other.descriptor, "\u{7F}garbage", 8)
    while let frame = try other.next() { #expect(frame.opcode == 8) }
    try eventually("both are forgotten") { server.streams.statistics.clients == 0 }
  }

  @Test func pingsAreAnsweredBetweenTheFramesOfABacklog() throws {
    let server = try ProbedServer(.narrow)
    try server.insert("a", 600)
    let other = try ProbedServer(.narrow, on: server.database)
    for each in [server, other] {
      var order = StreamOrder()
      order.start = .after(HistoryCursor(token: .beginning))
      let socket = try Socket(each.streams, order)
      try eventually("the socket is full") { each.streams.statistics.blocked == 1 }
      for _ in 0..<3 { socket.send(9, [1, 2, 3]) }
      var (changes, pongs) = (0, 0)
      while changes < 600 || pongs < 3 {
        let frame = try #require(try socket.next())
        if frame.opcode == 1 { changes += 1 }
        if frame.opcode == 10 { pongs += 1 }
      }
      #expect(changes == 600 && pongs == 3)
    }
  }

  @Test(
    arguments: [
      ([:], "WebSocket"), (["Upgrade": "websocket", "Connection": "keep-alive, Upgrade"], "13"),
      (
        [
          "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
          "Sec-WebSocket-Key": "short",
        ], "Sec-WebSocket-Key"
      ),
    ] as [([String: String], String)])
  func anotherRequestIsRefused(headers: [String: String], part: String) throws {
    var request = Request(method: .get, target: "/", path: "/", client: "", baseURL: "")
    for (name, value) in headers { request.headers.append(name, value) }
    let error = #expect(throws: HTTPError.self) { try WebSocketHandshake.answer(request) }
    #expect(error?.status == 400)
    #expect(error?.detail.contains(part) == true)
  }

  @Test func aClientThatPingsAndDoesNotReadIsDropped() throws {
    let server = try ProbedServer(.narrow)
    let socket = try Socket(server.streams, StreamOrder())
    #expect(try socket.next()?.opcode == 9)
    // For a server that neither reads nor closes the connection.
    var limit = timeval(tv_sec: 180, tv_usec: 0)
    setsockopt(
      socket.descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let ping = [UInt8](repeating: 65, count: 125)
    // The answers are twenty times what waits for a client at most.
    for _ in 0..<10_000 {
      guard socket.send(9, ping) else { break }
    }
    try eventually("the client is dropped") { server.streams.statistics.droppedStalled == 1 }
    #expect(server.streams.statistics.clients == 0)
  }

  @Test(
    arguments: [
      // A length of 64 KiB and a byte, one of 2^62 bytes, and a control frame that is longer than 125 bytes.
      [0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 1], [0x81, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0],
      [0x89, 0xFE, 0, 126],
    ] as [[UInt8]])
  func aMessageThatIsTooLongEndsTheConnection(header: [UInt8]) throws {
    let server = try ProbedServer()
    let socket = try Socket(server.streams, StreamOrder())
    #expect(try socket.next()?.opcode == 9)
    // The mask, and the beginning of the message.
    let frame = header + [1, 2, 3, 4] + [UInt8](repeating: 0, count: 16)
    #expect(send(socket.descriptor, frame, frame.count, Int32(MSG_NOSIGNAL)) == frame.count)
    while try socket.next() != nil {}
    try eventually("the client is forgotten") { server.streams.statistics.clients == 0 }
  }
}
