import Foundation
import TestSupport
import Testing

/// Consumers of `quake-serve`: named cursors on the server, for clients with a token.
@Suite struct HTTPConsumerTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder
  private let tokens: [String]
  /// Options of a server that knows the tokens of ann and bob.
  private let options: [String]

  private static func key(_ name: String) -> [String: String] {
    ["Authorization": "Bearer secret of \(name)"]
  }

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
    for code in ["a", "b", "c"] {
      try database.psql(
        "insert into quake.quake (code, time, magnitude) values ('\(code)', now(), 5);")
    }
    tokens = try database.tokens()
    options = try ["ann", "bob"].flatMap {
      ["--consumer-token", try ServerProcess.token("secret of \($0)", of: $0)]
    }
  }

  private func serve(_ arguments: [String] = []) throws -> ServerProcess {
    let server = try ServerProcess(database, options + ["--heartbeat", "200ms"] + arguments)
    try server.waitUntilReady()
    return server
  }

  private func member(_ name: String, _ answer: RawConnection.Answer) throws -> String? {
    try #require(answer.status == 200, "\(answer.status) \(answer.text)")
    return try answer.object()[name] as? String
  }

  /// Posts, and returns the cursor that the answer has.
  private func post(
    _ server: ServerProcess, _ target: String, as name: String = "ann"
  ) throws -> String? {
    try member(
      "cursor", server.request("POST", "/v1/consumers/\(target)", Self.key(name)))
  }

  /// The codes of the changes that are not acknowledged.
  private func codes(
    _ server: ServerProcess, _ target: String = "pager/changes?wait=10"
  ) throws -> [String] {
    let answer = try server.get("/v1/consumers/\(target)", Self.key("ann"))
    try #require(answer.status == 200, "\(answer.status) \(answer.text)")
    return try answer.text.split(separator: "\n").compactMap {
      try JSONLine(String($0)).string("code")
    }
  }

  // MARK: - The place

  @Test func whatIsNotAcknowledgedComesAgainAtAnyServer() throws {
    let server = try serve()
    #expect(try member("cursor", server.get("/v1/consumers/pager", Self.key("ann"))) == nil)
    #expect(try post(server, "pager?from=0") == "0")
    #expect(try codes(server) == ["a", "b", "c"])
    #expect(try codes(server) == ["a", "b", "c"])
    #expect(try post(server, "pager/ack?cursor=\(tokens[1])") == tokens[1])
    #expect(try codes(server) == ["c"])
    // It only moves forward; without a cursor it stays.
    #expect(try post(server, "pager/ack?cursor=\(tokens[0])") == tokens[1])
    #expect(try post(server, "pager/ack") == tokens[1])
    #expect(try post(server, "pager?from=0") == tokens[1])
    try server.stop()
    let other = try serve()
    #expect(try codes(other) == ["c"])
    // A place within a transaction.
    try database.psql("insert into quake.quake (code, time) values ('d', now()), ('e', now());")
    let last = try database.value("select quake.latest_token()")
    #expect(try post(other, "pager/ack?cursor=\(last)-1") == "\(last)-1")
    #expect(try codes(other).count == 1)
    #expect(try post(other, "pager/ack?cursor=\(last)") == last)
    #expect(try codes(other, "pager/changes?wait=0.1").isEmpty)
    #expect(try post(other, "middle?from=\(last)-1") == "\(last)-1")
    #expect(try codes(other, "middle/changes?wait=10").count == 1)
    // A filter of the stream.
    #expect(try post(other, "strong?from=oldest") == "0")
    #expect(try codes(other, "strong/changes?wait=10&op=insert&code=b") == ["b"])
    try other.stop()
  }

  @Test func anOperatorSeesAndMovesAConsumer() throws {
    let server = try serve()
    _ = try post(server, "pager?session=one&from=0")
    _ = try post(server, "pager/ack?session=one&cursor=\(tokens[1])")
    let listed = try database.run("quake-admin", ["consumers", "--json"])
    let line = try JSONLine(try #require(listed.lines.first, "\(listed.errors)"))
    #expect(line.string("name") == "ann/pager" && line.string("token") == tokens[1])
    #expect(line.string("state") == "running" && line.integer("tokens_behind") == 1)
    // It holds a purge back.
    let dry = try database.run(
      "quake-admin", ["history", "purge", "--dry-run", "--before", tokens[2]])
    #expect(dry.output.contains("watcher \"ann/pager\" holds"), "\(dry.output)\(dry.errors)")

    try database.succeed("quake-admin", ["consumers", "pause", "ann/pager"])
    let paused = try server.get("/v1/consumers/pager/changes", Self.key("ann")).expect(503)
    #expect(paused.headers["retry-after"] != nil, "\(paused.text)")
    let state = try server.request(
      "POST", "/v1/consumers/pager/ack?session=one", Self.key("ann"))
    // The refused stream has not taken the consumer.
    #expect(try member("paused_at", state) != nil)
    try database.succeed("quake-admin", ["consumers", "resume", "ann/pager"])

    // After a rewind, what a client has handled before does not move it forward again.
    try database.succeed(
      "quake-admin", ["consumers", "rewind", "ann/pager", "--to", tokens[0], "--yes"])
    try server.request(
      "POST", "/v1/consumers/pager/ack?session=one&cursor=\(tokens[2])", Self.key("ann")
    ).expect(409)
    #expect(try codes(server, "pager/changes?wait=10&session=one") == ["b", "c"])
    // Another client takes it over.
    #expect(try codes(server, "pager/changes?wait=10&session=two") == ["b", "c"])
    try server.request(
      "POST", "/v1/consumers/pager/ack?session=one&cursor=\(tokens[1])", Self.key("ann")
    ).expect(409)
    #expect(try post(server, "pager/ack?session=two&cursor=\(tokens[1])") == tokens[1])
    try server.stop()
  }

  @Test func anOperatorIsToldToStartTheClient() throws {
    let server = try serve()
    _ = try post(server, "pager")
    try server.stop()
    try database.psql("update quake.watcher set seen_at = now() - interval '2 h';")
    let status = try database.run("quake-admin", ["status"])
    #expect(
      status.errors.contains("the client of consumer ann/pager has acknowledged nothing for 2h"))
    #expect(status.errors.contains("Start its client.") && !status.errors.contains("quake-watch"))
    try database.succeed("quake-admin", ["consumers", "pause", "ann/pager"])
    let resumed = try database.run("quake-admin", ["consumers", "resume", "ann/pager"])
    #expect(
      resumed.errors.contains("no client follows consumer \"ann/pager\""), "\(resumed.errors)")
    let shown = try database.run("quake-admin", ["consumers", "show", "ann/pager"])
    #expect(shown.output.contains("no client follows it"), "\(shown.output)")
  }

  // MARK: - Who may

  @Test func aTokenHasConsumersOfItsOwn() throws {
    let server = try serve()
    #expect(try post(server, "pager?from=0") == "0")
    #expect(try member("cursor", server.get("/v1/consumers/pager", Self.key("bob"))) == nil)
    try server.get("/v1/consumers/pager/changes?wait=0", Self.key("bob")).expect(404)
    try server.request("POST", "/v1/consumers/other/ack", Self.key("ann")).expect(404)
    for (headers, status) in [([:], 401), (["Authorization": "Bearer wrong"], 401)] {
      #expect(try server.get("/v1/consumers/pager", headers).status == status)
      #expect(
        try server.request("POST", "/v1/consumers/pager/ack", headers).status == status)
    }
    for (target, status) in [
      ("a%2Fb", 400), (String(repeating: "x", count: 65), 400), ("pager/ack?cursor=x", 400),
      ("pager/ack?cursor=99.00000000", 404), ("pager/ack?after=0", 400),
    ] {
      try server.request("POST", "/v1/consumers/\(target)", Self.key("ann")).expect(
        status, with: target)
    }
    #expect(
      try server.get("/v1/consumers/pager/changes?after=0", Self.key("ann")).status == 400)
    // What an operator's own process keeps is not for clients, whatever its name is.
    try database.psql(
      """
      insert into quake.watcher (name, token) values ('ann/own', 0);
      insert into quake.consumer (name, sink) values ('ann/own', 'webhook');
      """)
    try server.request("POST", "/v1/consumers/own", Self.key("ann")).expect(409, "another watcher")
    for number in 1...19 { _ = try post(server, "n\(number)") }
    try server.request("POST", "/v1/consumers/n20", Self.key("ann")).expect(409, "has 20 consumers")
    #expect(try post(server, "pager", as: "bob") == tokens[2])
    // Strangers learn nothing of consumers from the status.
    let status = try server.get("/v1/status").expect(200, "\"consumers\":null")
    #expect(!status.text.contains("consumer ann"), "\(status.text)")
    try server.stop()
    // A server without tokens.
    let plain = try ServerProcess(database)
    try plain.waitUntilReady()
    #expect(try plain.get("/v1/consumers/pager", Self.key("ann")).status == 403)
    try plain.stop()
  }

  // MARK: - quake-watch

  private func watch(
    _ server: ServerProcess, _ home: String, _ arguments: String...
  ) throws -> ToolProcess {
    let headers = try folder.write("headers", "Authorization: Bearer secret of ann\n")
    return try Tools.start(
      "quake-watch",
      [
        "--url", server.url, "--header-file", headers, "--name", "pager", "--json",
        "--from-start",
      ] + arguments, environment: ["XDG_STATE_HOME": folder.path + "/" + home])
  }

  private func codes(_ outcome: ToolProcess.Outcome) throws -> [String?] {
    try outcome.lines.map { try JSONLine($0).string("code") }
  }

  @Test func aNamedWatchGoesOnAtAnotherMachine() throws {
    let server = try serve()
    let first = try watch(server, "here", "--no-follow", "--limit", "2").exit().expect(0)
    #expect(try codes(first) == ["a", "b"])
    // Without the witness of the first.
    #expect(try codes(watch(server, "there", "--no-follow").exit()) == ["c"])
    #expect(try codes(watch(server, "here", "--no-follow").exit()).isEmpty)
    // A rewind counts although the witness is ahead.
    try database.succeed(
      "quake-admin", ["consumers", "rewind", "ann/pager", "--to", tokens[1], "--yes"])
    #expect(try codes(watch(server, "here", "--no-follow").exit()) == ["c"])
    try server.stop()
  }

  @Test func aRunningWatchNoticesARewind() throws {
    let server = try serve()
    let running = try watch(server, "here")
    #expect(try running.lines(3).count == 3)
    let last = tokens[2]
    try eventually("all is acknowledged") {
      try database.value("select token from quake.watcher_lag where name = 'ann/pager'") == last
    }
    try database.succeed(
      "quake-admin", ["consumers", "rewind", "ann/pager", "--to", tokens[1], "--yes"])
    try database.psql("insert into quake.quake (code, time) values ('d', now());")
    try running.exit().expect(75, "does not take the cursor of consumer \"pager\"")
    #expect(try codes(watch(server, "here", "--no-follow").exit()) == ["c", "d"])
    try server.stop()
  }

  @Test func aWatchWithAWrongTokenHandsNothingOver() throws {
    let audit = try ServerProcess.token("secret of eve", of: "eve")
    let server = try serve(["--audit-token", audit])
    for (name, status) in [("nobody", 77), ("eve", 0)] as [(String, Int32)] {
      let headers = try folder.write(name, "Authorization: Bearer secret of \(name)\n")
      let outcome = try Tools.run(
        "quake-watch",
        ["--url", server.url, "--header-file", headers, "--name", "pager", "--json", "--no-follow"]
          + ["--from-start"], environment: ["XDG_STATE_HOME": folder.path + "/state-" + name]
      ).expect(status)
      #expect(outcome.output.isEmpty == (status != 0))
    }
    try server.stop()
  }

  @Test func aWatchWithoutTheTokenKeepsItsWitness() throws {
    let server = try ServerProcess(database)
    try server.waitUntilReady()
    try watch(server, "here", "--no-follow", "--limit", "2", "--verbose").exit().expect(
      0, "in the witness alone")
    #expect(try codes(watch(server, "here", "--no-follow").exit()) == ["c"])
    #expect(try database.count("quake.watcher") == 0)
    try server.stop()
  }
}
