import Basics
import Foundation
import QuakeClient
import QuakeModel
import TestSupport
import Testing

/// Each change once and in its order, whatever happens to the connection, the server and the database.
@Suite struct WatchServerFaultTests {
  private let folder: TemporaryFolder
  /// How soon a signal ends a watch; beside other tests everything takes several times as long.
  private static let promptly = Duration.seconds(Tools.isSoak ? 10 : 90)

  init() throws {
    folder = try TemporaryFolder()
  }

  private func insert(_ database: TestDatabase, _ prefix: String, _ count: Int) throws {
    try database.psql(
      """
      insert into quake.quake (code, time, place)
      select '\(prefix)' || i, now(), 'Nowhere' from generate_series(1, \(count)) i;
      """)
  }

  private static func changes(_ lines: [String]) throws -> [String] {
    try lines.map { try JSONLine($0).change }
  }

  // MARK: - Cuts

  /// Reads to the end of the history, again after each lost connection.
  private func read(
    _ follower: ServerFollower, after cursor: HistoryCursor, _ body: (Change) -> Void
  ) throws {
    var hasBegun = false
    while true {
      do {
        if hasBegun { try follower.resume() } else { try follower.begin(after: cursor) }
        hasBegun = true
        while !follower.hasReachedEnd {
          if try follower.readPage(body), !follower.hasReachedEnd {
            _ = try follower.wait(until: .init(after: .seconds(30)))
          }
        }
        return
      } catch let error as ServerError where error.isTransient {}
    }
  }

  @Test func aCutAtEachByteLosesAndRepeatsNothing() throws {
    let database = try TestDatabase()
    try insert(database, "a", 2)
    try insert(database, "b", 1)
    let history = try database.history()
    let server = try ServerProcess(database)
    let length = try RawConnection(port: server.port).request(
      "GET", "/v1/changes?after=0&wait=0",
      ["Accept": "text/event-stream", "Connection": "close"]
    ).body.count
    let proxy = try FaultyProxy(toPort: server.port)
    var cuts = 0
    let step = Tools.isSoak ? 1 : 29
    for cut in stride(from: 0, to: length + 400, by: step) {
      // The first connection breaks there, and the second a little later.
      proxy.set(cuts: [cut, cut / 2 + 300, .max])
      let follower = ServerFollower(try ServerAddress(proxy.url), filter: []) { -1 }
      let before = proxy.acceptedCount
      var seen: [String] = []
      try read(follower, after: HistoryCursor(token: .beginning)) { change in
        seen.append(
          "\(change.transaction.token) \(change.position) \(change.op) \(change.code ?? "null")"
        )
      }
      if seen != history {
        Issue.record("cut after \(cut) bytes: \(seen)")
        return
      }
      if proxy.acceptedCount > before + 1 { cuts += 1 }
    }
    #expect(cuts > length / (2 * step))
    #expect(length > 2000)
  }

  @Test func aFilteredWatchThroughABadNetworkIsExact() throws {
    let database = try TestDatabase()
    let server = try ServerProcess(database, ["--heartbeat", "200ms"])
    var random = SeededGenerator(7)
    let proxy = try FaultyProxy(
      toPort: server.port, cuts: (0..<60).map { _ in Int.random(in: 400...40_000, using: &random) })
    let watch = try Tools.start(
      "quake-watch",
      ["--url", proxy.url, "--json", "--state", "cursor", "--from-start", "--place", "here"],
      folder: folder.path)
    var expected: [String] = []
    for round in 1...30 {
      try insert(database, "r\(round)x", Int.random(in: 1...40, using: &random))
      if round % 10 == 0 { proxy.cut() }
      watch.takeIn()
    }
    expected = try database.history()
    #expect(try Self.changes(watch.lines(expected.count)) == expected)
    try watch.end()
    #expect(proxy.acceptedCount > 3)
  }

  // MARK: - The server and the database

  @Test func itGoesOnAfterARestartOfTheServer() throws {
    let database = try TestDatabase()
    let first = try ServerProcess(database)
    let proxy = try FaultyProxy(toPort: first.port)
    let watch = try Tools.start(
      "quake-watch", ["--url", proxy.url, "--json", "--state", "cursor", "--from-start"],
      folder: folder.path)
    try insert(database, "a", 3)
    var lines = try watch.lines(3)
    try first.stop()
    try watch.waitForError("Trying again until the connection is restored.")
    try insert(database, "b", 700)
    let second = try ServerProcess(database)
    proxy.lead(toPort: second.port)
    lines += try watch.lines(700)
    try watch.waitForError("connected again; continuing after token")
    second.process.signal(SIGKILL)
    try insert(database, "c", 2)
    let third = try ServerProcess(database)
    proxy.lead(toPort: third.port)
    lines += try watch.lines(2)
    #expect(try Self.changes(lines) == database.history())
    try watch.end()
  }

  @Test func aKilledWatchRepeatsAtMostWhatWasPrinted() throws {
    let database = try TestDatabase()
    for round in 1...40 { try insert(database, "r\(round)x", 50) }
    var history = try database.history()
    let server = try ServerProcess(database)
    var random = SeededGenerator(3)
    var seen = 0
    var runs = 0
    while seen < history.count || runs < 6 {
      runs += 1
      if seen == history.count {
        // The watches were quick.
        try insert(database, "more\(runs)x", 50)
        history = try database.history()
      }
      let watch = try Tools.start(
        "quake-watch", ["--url", server.url, "--json", "--state", "cursor", "--from-start"],
        folder: folder.path)
      let count = runs > 12 ? history.count : Int.random(in: 1...700, using: &random)
      var lines = [try watch.line()]
      let first = try #require(history.firstIndex(of: try Self.changes(lines)[0]))
      #expect(first <= seen, "changes are missing")
      lines += try watch.lines(min(max(count, seen - first), history.count - first) - 1)
      watch.signal(SIGKILL)
      // What had left the process when it was killed counts; a part of a line does not.
      let rest = try watch.exit().output.split(separator: "\n", omittingEmptySubsequences: false)
      lines += rest.dropLast().map(String.init)
      #expect(try Self.changes(lines) == Array(history[first..<(first + lines.count)]))
      seen = max(seen, first + lines.count)
    }
  }

  // MARK: - Proxies

  /// A server that is not there at first: a proxy answers for it.
  @Test(arguments: [503, 404])
  func aProxyWithoutItsServerIsWaitedFor(status: Int) throws {
    let greeting = "event: heartbeat\nid: 0\ndata: {\"token\":\"0\",\"op\":\"heartbeat\"}\n\n"
    let isDown = Flag()
    let proxy = try ScriptedServer { request, client in
      switch request.number {
      case 0:
        client.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + greeting)
      case 1...2:
        client.answer(status, ["Retry-After: 1"], "<h1>Bad</h1>")
        if request.number == 2 { isDown.raise() }
      default:
        client.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + greeting)
        client.hold()
      }
    }
    let watch = try Tools.start(
      "quake-watch",
      [
        "--url", "http://127.0.0.1:\(proxy.port)", "--from-start", "--verbose", "--heartbeat",
        "100ms",
      ])
    try isDown.wait()
    try watch.waitForError("connected again")
    let requests = proxy.requests
    #expect(requests.count >= 4)
    if status != 404 {
      // 404 is no answer that has this header.
      #expect(requests[2].arrived - requests[1].arrived >= .milliseconds(1000))
      #expect(watch.errorText.contains("is not available (status \(status))"))
    }
    #expect(requests.allSatisfy { $0.target == "/v1/changes?after=0" })
    try watch.end()
  }

  @Test func itEndsAtOnceWhileItWaits() throws {
    let isAsked = Flag()
    let server = try ScriptedServer { _, client in
      client.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
      isAsked.raise()
      client.hold()
    }
    let silent = try ScriptedServer { _, client in
      isAsked.raise()
      client.hold()
    }
    for server in [server, silent] {
      let watch = try Tools.start(
        "quake-watch", ["--url", "http://127.0.0.1:\(server.port)", "--from-start"])
      try isAsked.wait()
      let begun = ContinuousClock.now
      try watch.end()
      #expect(ContinuousClock.now - begun < Self.promptly)
    }
  }

  @Test func aServerThatSendsSomethingElseIsAnError() throws {
    for (text, part) in [
      ("event: colour\ndata: {}\n\n", "an event of an unknown kind"),
      ("data: {\n\n", "a change that is not valid"),
      ("id: 0\ndata: {\"token\":\"1.00000000\"}\n\n", "The JSON: not a change"),
      ("event: snapshot\ndata: {\"token\":\"0\"}\n\n", "a snapshot that is not valid"),
    ] { try outcome(of: text).expect(65, part) }
  }

  /// The outcome of a watch of a server that sends a text and then nothing.
  private func outcome(of text: String) throws -> ToolProcess.Outcome {
    let server = try ScriptedServer { _, client in
      client.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + text)
      client.hold()
    }
    return try Tools.run(
      "quake-watch", ["--url", "http://127.0.0.1:\(server.port)", "--from-start"])
  }

  @Test func aChangeOutOfOrderIsAnError() throws {
    let transaction =
      "{\"user\":\"u\",\"pid\":1,\"at\":\"2024-01-01T00:00:00.000Z\"}"
    func change(_ token: String, _ position: Int, _ id: String) -> String {
      """
      id: \(id)
      data: {"token":"\(token)","position":\(position),"op":"truncate","code":null,"changed":[],"old":null,"new":null,"transaction":\(transaction)}


      """
    }
    for text in [
      change("2.00000000", 0, "2.00000000") + change("1.00000000", 0, "1.00000000"),
      change("2.00000000", 0, "2.00000000") + change("2.00000000", 0, "2.00000000"),
      change("2.00000000", 1, "2.00000000"),
      change("2.00000000", 0, "2.00000000-1") + change("2.00000000", 2, "2.00000000"),
      change("2.00000000", 0, "3.00000000"),
    ] {
      let outcome = try outcome(of: text).expect(65, with: text)
      #expect(
        outcome.errors.contains("out of order") || outcome.errors.contains("its id is not"),
        "\(outcome.errors)")
    }
  }

  // MARK: - Slow consumers

  @Test func aSlowReaderOfASnapshotGetsItWhole() throws {
    let database = try TestDatabase()
    try insert(database, "a", 3000)
    // The server drops clients that read nothing for 30 s; a stall is noticed earlier.
    let server = try ServerProcess(database)
    try folder.write("gate", "")
    let watch = try Tools.start(
      "quake-watch",
      [
        "--url", server.url, "--snapshot", "--no-follow", "--exec-batch",
        "while test -e gate; do sleep 0.1; done; wc -l",
      ], folder: folder.path)
    try eventually("the server has sent all") {
      try server.get("/metrics").text.split(separator: "\n").contains {
        $0.hasPrefix("quake_stream_sent_bytes_total ")
          && (Int($0.split(separator: " ")[1]) ?? 0) > 3000 * 550
      }
    }
    try FileManager.default.removeItem(atPath: folder.path + "/gate")
    let outcome = try watch.exit().expect(0)
    #expect(outcome.lines.map { $0.filter(\.isNumber) } == ["3000"])
  }
}
