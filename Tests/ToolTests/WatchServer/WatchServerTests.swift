import Foundation
import TestSupport
import Testing

/// `quake-watch --url` prints what `quake-watch` prints, and accepts what it accepts.
@Suite final class WatchServerTests: ToolSuite {
  /// Transactions of several changes, with texts that JSON has to escape.
  private func load() throws {
    for count in [1, 7, 3, 600] {
      try database.psql(
        """
        set quake.author = 'ada "x"';
        set application_name = E'tab\\tand \\u202e';
        insert into quake.quake (code, time, place, magnitude, longitude, latitude, depth, type, net, source)
        select '\(count)x' || i, '2024-05-06 07:08:09.123456+00'::timestamptz + i * interval '1 day',
               E'Zürich\\n\\u2028 "near" \\\\ \\u0001' || i, i % 8 + 0.1, i % 180, -i % 90, i / 3.0, 'earthquake', 'us', 'usgs'
          from generate_series(1, \(count)) i;
        """)
    }
    try database.psql(
      """
      set quake.author = 'ada';
      begin;
      update quake.quake set magnitude = 4.75, place = null where code like '7x%';
      delete from quake.quake where code = '3x1';
      insert into quake.quake (code, time) values ('far', '0001-03-15 12:00:00+00');
      commit;
      update quake.quake set validated = true, withdrawn_at = '2024-01-01Z' where code = '1x1';
      """)
  }

  private func run(
    _ server: ServerProcess?, _ arguments: [String]
  ) throws -> ToolProcess.Outcome {
    try Tools.run(
      "quake-watch", (server.map { ["--url", $0.url] } ?? database.option) + arguments,
      folder: folder.path)
  }

  /// What the server leaves out of the output of `quake-watch`: the sessions that made the changes.
  private static func withoutSessions(_ text: String) -> String {
    text.replacing(
      #/"user":"[^"]*","pid":\d+,"client":(null|"[^"]*")/#,
      with: #""user":null,"pid":null,"client":null"#
    ).replacing(#/"import":\d+/#, with: #""import":null"#)
      .replacing(#/ \(role [^)]*\)/#, with: "")
  }

  /// Runs both; output, messages and status must be the same.
  @discardableResult
  private func compare(
    _ server: ServerProcess, _ arguments: [String], location: SourceLocation = #_sourceLocation
  ) throws -> ToolProcess.Outcome {
    let expected = try run(nil, arguments)
    let outcome = try run(server, arguments)
    #expect(
      outcome.status == expected.status, "\(arguments): \(outcome.errors)", sourceLocation: location
    )
    #expect(
      outcome.output == Self.withoutSessions(expected.output), "\(arguments)",
      sourceLocation: location)
    #expect(outcome.errors == expected.errors, "\(arguments)", sourceLocation: location)
    return outcome
  }

  @Test func itPrintsTheSameAsFromTheDatabase() throws {
    let server = try ServerProcess(database)
    #expect(try compare(server, ["--from-start", "--no-follow"]).output.isEmpty)
    try load()
    let tokens = try database.tokens()
    let all = ["--from-start", "--no-follow"]
    let codes = (1...900).map { "600x\($0)" }.joined(separator: ",")
    #expect(try compare(server, all + ["--json"]).lines.count == 621)
    for arguments in [
      all, ["--snapshot", "--no-follow", "--json"], ["--no-follow", "--json"],
      ["--after", tokens[5], "--no-follow", "--json"],
      ["--since", "2020-01-01", "--no-follow", "--json"],
      all + ["--up-to", tokens[2], "--json"], ["--from-start", "--limit", "5", "--json"],
      all + ["--json", "--min-magnitude", "4.7", "--place", "zürich"],
      all + ["--json", "--op", "update,delete", "--changed", "magnitude"],
      all + ["--json", "--author", "ada \"x\"", "--not-author", "b&c=d"],
      all + ["--json", "--application", "tab\tand \u{202E}"],
      all + ["--json", "--bbox", "1,-4,4,0", "--within", "900:-2,2"],
      all + ["--json", "--code", codes],
      ["--snapshot", "--no-follow", "--json", "--min-magnitude", "7"],
      all + ["--exec", "cat; env | grep ^QUAKE_ | sort", "--limit", "12"],
      all + ["--exec-batch", "cat; env | grep ^QUAKE_ | sort"],
      all + ["--exec-batch", "cat; echo end", "--op", "delete"],
      all + ["--exec", "test $QUAKE_CODE != 7x3", "--json"],
      all + ["--exec", "test $QUAKE_CODE != 7x3", "--exec-failure", "skip", "--limit", "9"],
    ] as [[String]] {
      let outcome = try compare(server, arguments)
      #expect(!outcome.output.isEmpty || outcome.status != 0 || arguments.contains("--no-follow"))
    }
    try server.stop()
  }

  @Test func tokensOfNoUseEndItAsFromTheDatabase() throws {
    try load()
    let server = try ServerProcess(database)
    let token = try database.value(
      "select token || '.' || nonce from quake.change_transaction where token = 4")
    for arguments in [
      ["--after", "4.00000000"], ["--after", "4000.00000000"],
      ["--from-start", "--up-to", "4.00000000"],
      ["--from-start", "--up-to", "4000.00000000", "--on-expired", "snapshot"],
    ] {
      #expect(try compare(server, arguments + ["--no-follow", "--json"]).status == 65)
    }
    try database.succeed("quake-admin", ["history", "purge", "--yes", "--before", token])
    for arguments in [
      ["--from-start"], ["--after", "0"], ["--from-start", "--up-to", token],
      ["--since", "2020-01-01"],
    ] {
      #expect(try compare(server, arguments + ["--no-follow", "--json"]).status == 65)
    }
    for arguments in [
      ["--from-start", "--json"], ["--after", "4.00000000", "--exec-batch", "cat"],
      ["--since", "2020-01-01"],
    ] {
      let outcome = try compare(server, arguments + ["--no-follow", "--on-expired", "snapshot"])
        .expect(0)
      #expect(outcome.lines.count == 612, "\(outcome.errors)")
    }
    // More changes than the transaction has.
    for state in ["\(token) 999", "5.00000000", "nonsense"] {
      try folder.write("cursor", state + "\n")
      try compare(server, ["--state", "cursor", "--no-follow"]).expect(65)
    }
  }

  @Test func aStateFileMovesBetweenDatabaseAndServer() throws {
    try load()
    let server = try ServerProcess(database)
    let whole = try run(nil, ["--from-start", "--no-follow", "--json"]).lines
    var lines: [String] = []
    var seen: Set<String> = []
    for index in 0..<whole.count {
      let from = index % 2 == 0 ? server : nil
      // The failing command leaves the cursor in the middle of a transaction.
      let outcome = try run(
        from,
        ["--state", "cursor", "--from-start", "--no-follow"]
          + (index % 3 == 0
            ? ["--exec", "cat >> out; echo x >> n; test $(wc -l < n) -lt \(index + 2)"]
            : ["--json", "--limit", "\(index + 1)"]))
      #expect(outcome.status <= 1, "\(outcome.errors)")
      seen.insert(try contents(of: folder.path + "/cursor"))
      if index % 3 == 0 {
        let file = folder.path + "/out"
        let text = (try? contents(of: file)) ?? ""
        try? FileManager.default.removeItem(atPath: file)
        try? FileManager.default.removeItem(atPath: folder.path + "/n")
        var ran = text.split(separator: "\n").map(String.init)
        // The last one has failed, and is tried again.
        if outcome.status == 1 { ran.removeLast() }
        lines += ran
      } else {
        lines += outcome.lines
      }
      if lines.count >= whole.count { break }
    }
    #expect(lines.map(Self.withoutSessions) == whole.map(Self.withoutSessions))
    #expect(seen.contains { $0.contains(" ") }, "no cursor was within a transaction")
  }

  @Test func newChangesComeAndHeartbeatsToo() throws {
    let server = try ServerProcess(database)
    let watch = try Tools.start(
      "quake-watch",
      [
        "--url", server.url, "--json", "--state", "cursor", "--heartbeat", "100ms", "--op",
        "insert",
      ],
      folder: folder.path)
    #expect(try JSONLine(try watch.line()).string("op") == "heartbeat")
    // It is written after the line.
    try eventually("the cursor is that of the heartbeat") {
      (try? contents(of: folder.path + "/cursor")) == "0\n"
    }
    try database.psql(
      """
      begin; insert into quake.quake (code, time) values ('a', now());
      update quake.quake set magnitude = 1; commit;
      """)
    var line = try JSONLine(watch.line())
    while line.string("op") == "heartbeat" { line = try JSONLine(watch.line()) }
    #expect(line.string("code") == "a")
    let outcome = try watch.end()
    #expect(outcome.problems == "")
    let token = try database.value("select quake.latest_token()")
    // The update does not pass the filter: its end is known at the next heartbeat.
    let state = try contents(of: folder.path + "/cursor")
    #expect(state == "\(token) 1\n" || state == "\(token)\n")
  }

  @Test func theEndOfABatchIsKnownAtOnce() throws {
    // Longer than this test waits.
    let server = try ServerProcess(database, ["--heartbeat", "1h"])
    let watch = try Tools.start(
      "quake-watch", ["--url", server.url, "--exec-batch", "cat; echo end", "--op", "insert"],
      folder: folder.path)
    try eventually("it follows") {
      try server.get("/metrics").text.contains("quake_stream_heartbeats_total 1\n")
    }
    try database.psql(
      """
      begin; insert into quake.quake (code, time) values ('a', now());
      update quake.quake set magnitude = 1; commit;
      """)
    #expect(try JSONLine(watch.line()).string("code") == "a")
    #expect(try watch.line() == "end")
    try watch.end()
  }

  // MARK: - Options

  @Test func whatNeedsADatabaseIsRefused() throws {
    let url = ["--url", "http://u:secret@h"]
    for (arguments, part) in [
      (url + ["--name", "x", "--no-witness"], "leave out --no-witness"),
      (url + ["--refresh"], "use quake-admin refresh"), (url + ["-d", "x"], "be used together"),
      (["--header-file", "x"], "is for --url"),
      (["--url", "ftp://u:secret@h"], "http://127.0.0.1:8080"),
      (["--url", "http://u:secret@h?x"], "options such as --min-magnitude"),
    ] {
      let outcome = try Tools.run("quake-watch", arguments).expect(64, part)
      #expect(!outcome.errors.contains("secret"))
    }
  }

  @Test func secretsAreSentAndNotShown() throws {
    let server = try ScriptedServer { _, client in
      client.answer(401, ["Content-Type: application/problem+json"], #"{"detail":"Who are you"}"#)
    }
    let url = "http://127.0.0.1:\(server.port)"
    let file = try folder.write("header", "X-Key: hidden\n")
    try Tools.run(
      "quake-watch",
      ["--verbose", "--url", "http://me:s%65cret@127.0.0.1:\(server.port)", "--header-file", file]
    ).expect(
      77,
      errors: """
        quake-watch: error: server "\(url)" refuses the request (status 401)
          detail: Who are you.
          hint: Put a user and a password into --url, or a header into a file for --header-file.

        """)
    let request = try #require(server.requests.first)
    #expect(
      request.headers["authorization"] == "Basic \(Data("me:secret".utf8).base64EncodedString())")
    #expect(request.headers["x-key"] == "hidden")
    let bad = try folder.write("bad", "X-Key: hidden\nhidden\n")
    let refused = try Tools.run("quake-watch", ["--url", url, "--header-file", bad]).expect(
      1, "line 2: expected Name: value")
    #expect(!refused.errors.contains("hidden"))
  }

  @Test func aWrongAddressFailsAtOnce() throws {
    let other = try ScriptedServer { _, client in
      client.answer(200, ["Content-Type: text/html"], "<p>")
    }
    let moved = try ScriptedServer { _, client in
      client.answer(301, ["Location: https://h/v1/changes"], "")
    }
    let missing = try ScriptedServer { _, client in client.answer(404, [], "no") }
    for (port, status, part) in [
      (other.port, 64, "It sent text/html"), (1, 69, "Check that quake-serve runs there"),
      (moved.port, 64, "redirects to \"https://h/v1/changes\""),
      (missing.port, 64, "no stream of changes"),
    ] as [(port: Int, status: Int32, part: String)] {
      try Tools.run("quake-watch", ["--url", "http://127.0.0.1:\(port)", "--from-start"]).expect(
        status, part)
    }
  }
}
