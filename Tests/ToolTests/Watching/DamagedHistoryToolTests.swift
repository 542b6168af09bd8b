import Glibc
import TestSupport
import Testing

/// Every tool and every route that reads the history ends with *diverged* where it is damaged.
@Suite struct DamagedHistoryToolTests {
  private static let rounds = Tools.isSoak ? 100 : 1

  @Test(arguments: HistoryDamage.allCases)
  func everyToolAndRouteFindsTheDamage(_ damage: HistoryDamage) throws {
    for round in 0..<Self.rounds {
      let history = try DamagedHistory(damage, round: round)
      let server = try ServerProcess(history.database)
      try checkTools(damage, history, server)
      try checkDocuments(damage, history, server)
      try checkStreams(history, server)
      try server.stop()
    }
  }

  private func checkTools(
    _ damage: HistoryDamage, _ history: DamagedHistory, _ server: ServerProcess
  ) throws {
    let (cursor, database) = (history.cursor, history.database.option)
    let folder = try TemporaryFolder()
    let state = try folder.write("state", cursor + "\n")
    let url = ["--url", server.url]
    let start = cursor == "0" ? ["--from-start"] : ["--after", cursor]
    let all: [(tool: String, arguments: [String])] = [
      ("quake-watch", start + ["--no-follow"] + database),
      ("quake-watch", start + database),
      ("quake-watch", ["--state", state] + database),
      ("quake-watch", start + ["--no-follow"] + url),
      ("quake-watch", start + url),
      ("quake-watch", ["--state", try folder.write("other", cursor + "\n")] + url),
      ("quake-query", ["history", "--after", cursor] + database),
      ("quake-query", ["history", "--after", cursor, "--descending"] + database),
      ("quake-query", ["history", "--after", cursor, "--transactions"] + database),
      ("quake-query", ["diff", cursor] + database),
    ]
    let running = try all.map { ($0, try Tools.start($0.tool, $0.arguments)) }
    for (tool, process) in running {
      let outcome = try process.exit().expect(65, with: tool)
      #expect(history.isNamed(in: outcome.errors), "\(tool): \(outcome.errors)")
    }
    let verified = try Tools.run("quake-query", ["verify"] + database)
    #expect(verified.status == (damage.isWhole ? 0 : 65), "\(verified.errors)")
  }

  /// The documents, a page after the other.
  private func checkDocuments(
    _ damage: HistoryDamage, _ history: DamagedHistory, _ server: ServerProcess
  ) throws {
    let cursor = history.cursor
    var targets = [
      "/v1/history?after=\(cursor)&limit=100", "/v1/history?after=\(cursor)&descending&limit=100",
      "/v1/diff?from=\(cursor)&limit=100",
    ]
    if damage.isWhole {
      // Cursors of pages of the history that was there before.
      targets += [
        "/v1/history?page=\(cursor):0", "/v1/history?descending&page=\(cursor):0",
        "/v1/diff?from=0&page=\(cursor)~\(cursor)~0~~l1", "/v1/diff?from=\(cursor)&to=0",
        "/v1/quakes?as-of=\(cursor)", "/v1/table?as-of=\(cursor)",
      ]
    }
    for target in targets {
      var (answer, pages) = (try server.get(target), 0)
      while answer.status == 200, pages < 100, let next = try APIScene.next(answer) {
        answer = try server.get(next)
        pages += 1
      }
      #expect(answer.status == 404, "\(target): \(answer.status)")
      #expect(history.isNamed(in: answer.text), "\(target): \(answer.text.prefix(500))")
    }
  }

  /// The streams of a client that goes on at its cursor: at most one answer, and long polls.
  private func checkStreams(_ history: DamagedHistory, _ server: ServerProcess) throws {
    let upgrade = """
      Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n
      """
    for (target, more) in [
      ("/v1/changes?after=\(history.cursor)", "Accept: text/event-stream\r\n"),
      ("/v1/changes", "Last-Event-ID: \(history.cursor)\r\n"),
      ("/v1/changes?after=\(history.cursor)", "Accept: application/x-ndjson\r\n"),
      ("/standing_order/websocket?after=\(history.cursor)", upgrade),
    ] {
      let connection = try RawConnection(port: server.port)
      connection.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(more)\r\n")
      #expect(try wait(for: "\"diverged\"", on: connection), "\(target) \(more)")
    }
    var (cursor, polls, text) = (history.cursor, 0, "")
    repeat {
      let answer = try server.get(
        "/v1/changes?after=\(cursor)&wait=0", ["Accept": "text/event-stream"])
      text = answer.text
      cursor =
        text.split(separator: "\n").last { $0.hasPrefix("id:") }
        .map { $0.dropFirst(3).filter { $0 != " " } } ?? cursor
      polls += 1
    } while polls < 100 && !text.contains("\"diverged\"") && !text.contains("event: heartbeat")
    #expect(history.isNamed(in: text), "a long poll: \(text.suffix(500))")
  }

  /// Whether a text comes over a connection before it ends.
  private func wait(for text: String, on connection: RawConnection) throws -> Bool {
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while bytes.firstRange(of: Array(text.utf8)) == nil {
      let count = recv(connection.descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return false }
      bytes += buffer[..<count]
    }
    return true
  }

  /// Both ends of a gap are named by the readers that come to it, and each gap by `quake-query verify`.
  @Test func aGapIsNamedWithBothEnds() throws {
    let database = try TestDatabase()
    let connection = try database.connect()
    for number in 1...60 {
      try connection.run("insert into quake.quake (code, time) values ('e\(number)', now())")
    }
    let whole = try database.run("quake-query", ["verify"]).expect(0)
    #expect(whole.output.hasSuffix(": nothing is missing\n"), "\(whole.output)")
    let tokens = try database.tokens()
    try database.psql(
      """
      delete from quake.quake_version v using quake.change_transaction t
       where t.transaction_id = v.transaction_id and t.token in (11, 12);
      delete from quake.change_transaction where token in (11, 12);
      """)
    let (before, after, last) = (tokens[9], tokens[12], tokens[11])
    for (tool, arguments, printed) in [
      ("quake-watch", ["--from-start", "--json"], 10), ("quake-query", ["history", "--json"], 0),
    ] {
      let outcome = try database.run(tool, arguments).expect(65, with: tool)
      #expect(outcome.lines.count == printed, "\(tool)")
      let detail = "The next transaction here, \(after), names \(last) as the one before it."
      #expect(
        outcome.errors.contains("error: history diverged at token \(before)")
          && outcome.errors.contains(detail), "\(outcome.errors)")
    }
    // What does not reach over the gap is read.
    for range in [["--after", after], ["--from-start", "--up-to", before]] {
      try database.succeed("quake-watch", range + ["--no-follow", "--json"])
    }
    try database.psql(
      """
      delete from quake.quake_version v using quake.change_transaction t
       where t.transaction_id = v.transaction_id and t.token = 30;
      """)
    let outcome = try database.run("quake-query", ["verify"]).expect(
      65, "error: history diverged in 2 places")
    try #require(outcome.lines.count == 3, "\(outcome.output)")
    #expect(
      outcome.lines[0]
        == "after \(before): the next transaction, \(after), names \(last) as the one before it")
    #expect(outcome.lines[1].hasSuffix(": the transaction had 1 change, the history holds 0"))
    #expect(outcome.lines[2].hasSuffix(": 2 gaps"), "\(outcome.lines[2])")
    let json = try database.run("quake-query", ["verify", "--json"])
    let lines = try json.lines.map(JSONLine.init)
    try #require(lines.count == 3)
    #expect(lines[0].string("after") == before && lines[0].string("token") == after)
    #expect(lines[0].string("predecessor") == last)
    #expect(lines[1].integer("changes") == 1 && lines[1].integer("held") == 0)
    #expect(lines[2].integer("transactions") == 58 && lines[2].integer("gaps") == 2)
  }
}
