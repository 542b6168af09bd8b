import Foundation
import TestSupport
import Testing

/// Consumers of `quake-serve` that are told of earthquakes, in conversations that the server keeps.
@Suite struct HTTPAlertTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder
  private let options: [String]

  private static let key = ["Authorization": "Bearer secret of ann"]

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
    let token = try ServerProcess.token("secret of ann", of: "ann")
    options = ["--consumer-token", token, "--heartbeat", "200ms"]
  }

  private func serve() throws -> ServerProcess {
    let server = try ServerProcess(database, options)
    try server.waitUntilReady()
    return server
  }

  private func post(
    _ server: ServerProcess, _ target: String
  ) throws -> RawConnection.Answer {
    try server.request("POST", "/v1/consumers/\(target)", Self.key)
  }

  /// Makes the consumer, which begins with what is committed afterwards.
  private func make(_ server: ServerProcess, _ parameters: String = "") throws {
    let answer = try post(server, "duty?alert=true&min-magnitude=4.5\(parameters)")
    try #require(answer.status == 200, "\(answer.status) \(answer.text)")
    let json = try answer.object()
    #expect(json["alert"] as? Bool == true)
  }

  private func acknowledge(_ server: ServerProcess, _ id: String) throws {
    let answer = try post(server, "duty/ack?cursor=\(id)")
    try #require(answer.status == 200, "\(answer.status) \(answer.text)")
  }

  /// What is not acknowledged, as soon as there is something.
  private func alerts(
    _ server: ServerProcess, _ parameters: String = "wait=60"
  ) throws -> [String] {
    let answer = try server.get("/v1/consumers/duty/changes?\(parameters)", Self.key)
    try #require(answer.status == 200, "\(answer.status) \(answer.text)")
    return try answer.text.split(separator: "\n").map {
      let line = try JSONLine(String($0))
      return [line.string("alert"), line.string("code"), line.string("id")].map { $0 ?? "-" }
        .joined(separator: " ")
    }
  }

  private func waitFor(_ beginning: String, _ stream: RawConnection) throws {
    // Five heartbeats of three lines come in a second.
    for _ in 0..<2000 {
      let line = try #require(try stream.line(), "the stream has ended before \(beginning)")
      if line.hasPrefix(beginning) { return }
    }
    Issue.record("\(beginning) has not come")
  }

  private func store(_ code: String, _ magnitude: Double, _ more: String = "") throws {
    try database.psql(
      """
      insert into quake.quake (code, source, type, time, magnitude, place)
      values ('\(code)', 'usgs', 'earthquake', now(), \(magnitude), 'here')
      on conflict (code) do update set magnitude = excluded.magnitude; \(more)
      """)
  }

  private func token() throws -> String { try database.value("select quake.latest_token()") }

  @Test func aConversationGoesOnAtAnotherServer() throws {
    let (first, second) = (try serve(), try serve())
    try make(first)
    try store("a", 5)
    let a = try token()
    #expect(try alerts(first) == ["opened a \(a)-0-1"])
    try store("a", 6)
    // Not acknowledged: it comes again with the same id, there or here.
    #expect(try alerts(second, "wait=60&limit=2") == ["opened a \(a)-0-1", "updated a \(a)-0-2"])
    try acknowledge(first, "\(a)-0-1")
    #expect(try alerts(first) == ["updated a \(a)-0-2"])
    try acknowledge(second, "\(a)-0-2")
    // An earlier one changes nothing.
    try acknowledge(second, "\(a)-0-1")
    try store("b", 5, "delete from quake.quake where code = 'a';")
    let last = try alerts(first, "wait=60&limit=2")
    #expect(last.count == 2 && last.contains("retracted a \(a)-0-3"), "\(last)")
    #expect(last.contains { $0.hasPrefix("opened b ") }, "\(last)")
    #expect(
      try database.column("select state from quake.conversation order by code") == [
        "retracted", "open",
      ])
    try first.stop()
    try second.stop()
  }

  @Test func aStreamThatStaysGetsEachMessageWhenItIsCommitted() throws {
    let server = try serve()
    try make(server, "&settle=1s")
    let stream = try RawConnection(port: server.port)
    stream.send(
      """
      GET /v1/consumers/duty/changes HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r
      Authorization: Bearer secret of ann\r\n\r\n
      """)
    try waitFor("event: heartbeat", stream)
    try store("a", 5)
    let id = "\(try token())-0-1"
    try waitFor("id: \(id)", stream)
    try waitFor("data: {\"id\":\"\(id)\",\"alert\":\"opened\"", stream)
    try store("a", 7)
    try waitFor("id: \(id.dropLast())2", stream)
    // Another client takes it over, and gets what the first one did not acknowledge.
    #expect(try alerts(server, "wait=60&session=two").count == 2)
    #expect(stream.waitForEnd())
    try server.stop()
  }

  @Test func anOperatorSeesAndRewindsIt() throws {
    let server = try serve()
    try make(server)
    try store("weak", 1)
    let start = try token()
    try store("a", 5)
    let told = try alerts(server)
    try acknowledge(server, String(told[0].split(separator: " ")[2]))
    let listed = try database.succeed("quake-admin", ["consumers", "--json"])
    let line = try JSONLine(try #require(listed.lines.first))
    #expect(line.string("name") == "ann/duty" && line.bool("alert") == true)
    #expect(line.integer("delivered") == 1 && line.integer("owed") == 0)
    try store("a", 6)
    let dry = try database.run(
      "quake-admin", ["history", "purge", "--dry-run", "--before", try token()])
    #expect(dry.output.contains("watcher \"ann/duty\" holds"), "\(dry.output)\(dry.errors)")
    try database.succeed(
      "quake-admin", ["consumers", "rewind", "ann/duty", "--to", start, "--yes"])
    let again = try alerts(server, "wait=60&limit=2")
    #expect(again.first == told.first && again.count == 2)
    try server.stop()
  }

  private func startWatch(_ server: ServerProcess, _ arguments: [String] = []) throws -> ToolProcess
  {
    let headers = try folder.write("headers", "Authorization: Bearer secret of ann\n")
    return try Tools.start(
      "quake-watch",
      ["--url", server.url, "--header-file", headers, "--name", "duty"] + arguments,
      environment: ["XDG_STATE_HOME": folder.path + "/state"])
  }

  @Test func aWatchDoesNotTakeItsConsumerBack() throws {
    let server = try serve()
    try make(server)
    let first = try startWatch(server, ["--json"])
    try store("a", 5)
    #expect(try JSONLine(first.line()).string("code") == "a")
    let second = try startWatch(server, ["--json"])
    try first.exit().expectFailure(75)
    try store("b", 5)
    #expect(try JSONLine(second.line()).string("code") == "b")
    try second.end()
    try server.stop()
  }

  @Test(arguments: ["?alert=true", ""])
  func aWatchThatBeginsWhileItsConsumerIsPausedWaits(parameters: String) throws {
    let server = try serve()
    try #require(try post(server, "duty\(parameters)").status == 200)
    try database.succeed("quake-admin", ["consumers", "pause", "ann/duty"])
    try startWatch(server, ["--no-follow"]).exit().expect(69, "paused")
    let watch = try startWatch(server)
    try watch.waitForError("paused")
    try watch.end()
    try server.stop()
  }

  @Test func aPollThatBringsNothingMovesTheConsumer() throws {
    let server = try serve()
    try make(server)
    try store("weak", 1)
    #expect(try alerts(server, "wait=0").isEmpty)
    #expect(
      try database.value("select token || '.' || nonce from quake.watcher") == (try token()))
    try server.stop()
  }

  @Test func aWatchWhoseHistoryIsGoneSaysHowToGoOn() throws {
    let server = try serve()
    try make(server)
    try store("a", 5)
    try database.succeed(
      "quake-admin", ["history", "purge", "--before", "0s", "--hold-limit", "0s", "--yes"])
    let outcome = try startWatch(server).exit().expectFailure(65, "quake-admin consumers rewind")
    #expect(!outcome.errors.contains("--snapshot"), "\(outcome.errors)")
    try server.stop()
  }

  @Test func quakeWatchHandsTheMessagesOver() throws {
    let server = try serve()
    func watch(_ arguments: String...) throws -> ToolProcess.Outcome {
      try startWatch(server, arguments).exit()
    }
    try make(server)
    try store("a", 5)
    let a = "\(try token())-0"
    try store("a", 6)
    try store("a", 7)
    let first = try watch("--json", "--limit", "1").expect(0)
    #expect(try first.lines.map { try JSONLine($0).string("id") } == ["\(a)-1"])
    // What a command does not handle comes again.
    try watch("--exec", "exit 3").expect(1, "exited with status 3")
    let second = try watch(
      "--limit", "1", "--exec",
      "echo $QUAKE_ID $QUAKE_ALERT $QUAKE_OLD_MAGNITUDE $QUAKE_MAGNITUDE; echo $QUAKE_AT; cat")
    try #require(second.lines.count == 3, "\(second.errors)")
    #expect(second.lines[0] == "\(a)-2 updated 5.0 6.0")
    #expect(try JSONLine(second.lines[2]).string("at") == second.lines[1])
    let rest = try watch("--no-follow")
    #expect(
      rest.lines.count == 1 && rest.output.hasPrefix("M 7.0, was 6.0: here, "), "\(rest.output)")
    #expect(try watch("--no-follow").output.isEmpty)
    try watch("--min-magnitude", "6").expect(64, "--min-magnitude is for changes")
    try server.stop()
  }

  @Test func mistakesAreExplained() throws {
    let server = try serve()
    try make(server)
    try database.psql("insert into quake.quake (code, time) values ('d', now()), ('e', now());")
    let last = try token()
    #expect(try post(server, "log").status == 200)
    for (target, status, words) in [
      ("duty?alert=true&night=22:00-07:00", 409, "night-min-magnitude"),
      ("other?min-magnitude=5", 400, "Without alert=true"),
      ("log?alert=true", 409, "gets changes"),
      ("other?alert=true&from=\(last)-1", 400, "between two transactions"),
      ("log/ack?cursor=\(last)-2", 400, "has 2 changes"),
      ("duty/ack?cursor=\(last)", 400, "must be the id"),
      ("duty/ack?cursor=\(last)-0-x", 400, "must be the id"),
    ] { try post(server, target).expect(status, words, with: target) }
    try server.get("/v1/consumers/duty/changes?min-magnitude=5", Self.key).expect(
      400, "min-magnitude")
    // Another rule replaces the first; without one it stays.
    #expect(try post(server, "duty?alert=true&min-magnitude=6").status == 200)
    #expect(try post(server, "duty").status == 200)
    #expect(
      try database.value("select rule from quake.consumer where name = 'ann/duty'")
        == "alert=true\nmin-magnitude=6")
    try server.stop()
  }
}
