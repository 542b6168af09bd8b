import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-watch`: what it prints, where it begins and where it ends. The writer is the real `psql`.
@Suite final class WatchTests: ToolSuite {
  private func watch(_ arguments: [String]) throws -> ToolProcess {
    try database.start("quake-watch", arguments)
  }

  /// Runs a watch to its end; the status must be 0.
  private func read(_ arguments: [String]) throws -> [String] {
    try watch(["--no-follow"] + arguments).exit().requireSuccess().lines
  }

  private func codes(_ arguments: [String]) throws -> [String?] {
    try read(["--json", "--from-start"] + arguments).map { try JSONLine($0).string("code") }
  }

  static func insert(
    _ code: String, magnitude: String = "2.5", type: String = "earthquake",
    longitude: Double = 10, latitude: Double = 20
  ) -> String {
    """
    insert into quake.quake (code, net, time, magnitude, place, type, longitude, latitude, depth)
    values ('\(code)', 'us', '2024-05-06 07:08:09.5+00', \(magnitude), 'Nowhere', '\(type)',
            \(longitude), \(latitude), 5);

    """
  }

  // MARK: Changes by psql

  @Test func changesByPsqlAreReportedExactlyAsCommitted() throws {
    let watch = try watch(["--json", "--from-start"])
    try database.psql(
      """
      set application_name = 'by hand';
      \(Self.insert("a"))
      begin;
      set local quake.author = 'ada';
      set local quake.context = 'review';
      update quake.quake set magnitude = 3.5, place = 'Elsewhere' where code = 'a';
      update quake.quake set magnitude = 3.5 where code = 'a';
      \(Self.insert("b"))
      savepoint s;
      \(Self.insert("lost"))
      update quake.quake set magnitude = 9 where code = 'b';
      rollback to s;
      delete from quake.quake where code = 'b';
      savepoint t;
      \(Self.insert("c"))
      release t;
      commit;
      begin;
      \(Self.insert("never"))
      rollback;
      update quake.quake set magnitude = magnitude;
      delete from quake.quake where code = 'nothing';
      begin; \(Self.insert("d")) delete from quake.quake where code = 'd'; commit;
      truncate quake.quake;
      \(Self.insert("last"))
      """)
    let lines = try watch.lines(9).map(JSONLine.init)
    #expect(
      lines.map {
        "\($0.integer("position") ?? -1) \($0.string("op") ?? "") \($0.string("code") ?? "-")"
      }
        == [
          "0 insert a", "0 update a", "1 insert b", "2 delete b", "3 insert c", "0 insert d",
          "1 delete d", "0 truncate -", "0 insert last",
        ])
    #expect(try lines.map(\.change) == database.history())

    let update = lines[1]
    #expect(update.strings("changed") == ["magnitude", "place"])
    #expect(update["old"]?.double("magnitude") == 2.5 && update["new"]?.double("magnitude") == 3.5)
    #expect(update["old"]?.string("place") == "Nowhere")
    #expect(update["new"]?.string("time") == "2024-05-06T07:08:09.500Z")
    let who = try #require(update["transaction"])
    #expect(
      who.keys == ["author", "context", "application", "user", "pid", "client", "at", "import"])
    #expect(who.string("author") == "ada" && who.string("context") == "review")
    #expect(who.string("application") == "by hand" && who.string("user") == "quake")
    #expect(
      try who.integer("pid").map(String.init)
        == database.value("select process_id from quake.change_transaction limit 1"))
    #expect(who.isNull("client") && who.isNull("import"))
    #expect(lines[0]["transaction"]?.isNull("author") == true)
    #expect(lines[0].isNull("old") && lines[0]["new"]?.string("code") == "a")
    #expect(lines[3].isNull("new") && lines[3]["old"]?.double("magnitude") == 2.5)
    #expect(lines[7].isNull("old") && lines[7].isNull("new") && lines[7].isNull("code"))

    watch.signal(SIGTERM)
    let outcome = try watch.exit().expect(0, output: "")
    #expect(outcome.problems.isEmpty)
  }

  /// Two sessions commit in another order than they write.
  @Test func changesAreInCommitOrder() throws {
    let watch = try watch(["--json", "--from-start"])
    let slow = try database.connect()
    try slow.execute("begin")
    try slow.execute("insert into quake.quake (code, time) values ('first written', now())")
    try database.psql(Self.insert("first committed"))
    #expect(try JSONLine(watch.line()).string("code") == "first committed")
    try slow.execute("commit")
    #expect(try JSONLine(watch.line()).string("code") == "first written")
  }

  @Test func withoutJSONEachChangeIsALineOfText() throws {
    try database.psql(
      """
      set application_name = 'by hand';
      \(Self.insert("us1", magnitude: "0.5"))
      begin; set local quake.author = 'ada';
      update quake.quake set magnitude = 6.1, updated = now(), place = E'No\\u001bwhere' where code = 'us1';
      commit;
      begin; set local quake.author = 'ada'; delete from quake.quake; truncate quake.quake; commit;
      """)
    #expect(
      try read(["--from-start"]) == [
        "new     2024-05-06T07:08:09Z  M  0.5  Nowhere (us1): depth 5 km  by quake (by hand)",
        "changed 2024-05-06T07:08:09Z  M  6.1  No\u{FFFD}where (us1): magnitude 0.5 → 6.1, "
          + "place was Nowhere  by ada",
        "deleted 2024-05-06T07:08:09Z  M  6.1  No\u{FFFD}where (us1)  by ada (role quake)",
        "all events were removed (truncate) by ada (role quake)",
      ])
  }

  /// The colours of the original program, only on a terminal.
  @Test func coloursAreForTerminals() throws {
    for magnitude in ["0.9", "2.9", "5.0"] {
      try database.psql(Self.insert("us\(magnitude)", magnitude: magnitude))
    }
    let command = "quake-watch --from-start --no-follow --database '\(database.conninfo)'"
    func onTerminal(_ environment: [String: String]) throws -> String {
      try Tools.shell(
        "script -qec \"\(command)\" /dev/null",
        environment: environment.merging(["TERM": "xterm-256color"]) { $1 }
      ).output
    }
    let shown = try onTerminal([:])
    for (magnitude, code) in [("0.9", "32"), ("2.9", "38;5;208"), ("5.0", "35")] {
      #expect(shown.contains("\u{1B}[\(code)mM  \(magnitude)\u{1B}[0m"), "\(shown)")
    }
    let plain = try onTerminal(["NO_COLOR": "1"])
    #expect(plain.contains("us5.0") && !plain.contains("\u{1B}"))
    #expect(try !read(["--from-start"]).contains { $0.contains("\u{1B}") })
  }

  // MARK: Where it begins

  @Test func withoutAStartOptionItFollowsFromNow() throws {
    let file = folder.path + "/cursor"
    try database.psql(Self.insert("before"))
    let watch = try watch(["--json", "--state", file])
    try database.waitForIdle("quake-watch", after: "select t.token, v.id")
    // The cursor is saved before any change.
    try eventually("the cursor file is there") { FileManager.default.fileExists(atPath: file) }
    watch.signal(SIGKILL)
    _ = try watch.exit()
    try database.psql(Self.insert("after"))
    #expect(try codes(["--state", file]) == ["after"])
    #expect(try read(["--json"]).isEmpty, "with --no-follow there is nothing from now")
    // A snapshot is not repeated where there is a cursor.
    #expect(try read(["--json", "--snapshot", "--state", file]).isEmpty)
  }

  /// The snapshot and the changes after it, while another session writes all the time.
  @Test func aSnapshotLeavesNoGapAndNoRepeat() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude)
      select 'e' || n, now() - n * interval '1 second', 1 from generate_series(1, 3000) n;
      """)
    let writer = try ToolProcess(
      Tools.psql, ["-X", "-q", "-d", database.conninfo], environment: Tools.environment,
      input: folder.write(
        "writer.sql",
        (1...300).map { number in
          """
          begin; insert into quake.quake (code, time, magnitude) values ('w\(number)', now(), 1);
          update quake.quake set magnitude = \(number) / 100.0 where code = 'e\(number)';
          delete from quake.quake where code = 'e\(number + 1000)'; commit;

          """
        }.joined()))
    try eventually("the writer is at work") {
      try Int(database.value("select count(*) from quake.change_transaction")) ?? 0 > 20
    }
    let watch = try watch(["--json", "--snapshot"])
    #expect(try writer.exit().status == 0)
    try database.psql(Self.insert("the end"))
    var state: [String: Double] = [:]
    var snapshots = 0
    var seen: Set<String> = []
    while state["the end"] == nil {
      let line = try JSONLine(watch.line())
      let code = try #require(line.string("code"))
      switch line.string("op") {
      case "snapshot":
        snapshots += 1
        #expect(state[code] == nil && line.isNull("transaction"))
      case "insert": #expect(state[code] == nil, "\(code) was there")
      case "update": #expect(state[code] == line["old"]?.double("magnitude"), "\(code)")
      default: #expect(state[code] != nil, "\(code) was not there")
      }
      if line.string("op") != "snapshot" { #expect(seen.insert(line.change).inserted) }
      state[code] = line["new"]?.double("magnitude")
    }
    #expect(snapshots >= 3000)
    let stored = try database.column(
      "select code || ' ' || magnitude from quake.quake order by code collate \"C\"")
    #expect(stored.count == state.count)
    for row in stored {
      let parts = row.split(separator: " ")
      #expect(state[parts.dropLast().joined(separator: " ")] == Double(parts[parts.count - 1]))
    }
  }

  // MARK: Cursor files

  @Test func aCursorFileResumesExactly() throws {
    let file = folder.path + "/cursor"
    let arguments = ["--json", "--from-start", "--state", file]
    try database.psql(Self.insert("a") + Self.insert("b"))
    let first = try watch(arguments)
    let before = try first.lines(2)
    try first.end()
    try database.psql(Self.insert("c"))
    let second = try watch(arguments)
    let after = try second.lines(1)
    try second.end()
    #expect(try (before + after).map { try JSONLine($0).change } == database.history())
    #expect(try read(arguments).isEmpty)
    #expect(try contents(of: file) == database.value("select quake.latest_token()") + "\n")
  }

  /// A limit ends it within a transaction; the next run continues there.
  @Test func aLimitWithACursorLosesNothing() throws {
    let file = folder.path + "/cursor"
    try database.psql("begin;" + ["a", "b", "c"].map { Self.insert($0) }.joined() + "commit;")
    #expect(try codes(["--state", file, "--limit", "2"]) == ["a", "b"])
    #expect(try codes(["--state", file]) == ["c"])
    let outcome = try watch(["--json", "--from-start", "--limit", "3"]).exit()
    #expect(outcome.status == 0 && outcome.lines.count == 3, "it ends without --no-follow")
  }

  @Test func anInvalidCursorFileIsRefused() throws {
    let file = try folder.write("cursor", "hello\n")
    try watch(["--state", file]).exit().expect(65, "state file \"\(file)\" does not hold a token")
    #expect(try contents(of: file) == "hello\n")
    try watch(["--state", folder.path + "/none/cursor"]).exit().expect(
      1, "could not write state file")
  }

  // MARK: Where it ends

  @Test func aClosedPipeEndsItQuietly() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, place)
      select 'e' || n, now(), repeat('x', 200) from generate_series(1, 5000) n;
      """)
    // A service manager starts a watch again that has lost its reader; one that ends by itself has done its work.
    for (arguments, status) in [
      ("--from-start --json", 74), ("--snapshot", 74), ("--from-start --no-follow", 0),
    ] {
      let outcome = try Tools.shell(
        """
        { s=0; quake-watch \(arguments) --database '\(database.conninfo)' || s=$?; \
          echo "status $s" >&2; } | head -n 1
        """
      ).expect(0, errors: "status \(status)\n", with: arguments)
      #expect(outcome.lines.count == 1)
    }
  }

  @Test func aReaderThatEndsWhileNothingChangesEndsIt() throws {
    let watch = try watch(["--json"])
    try database.waitForIdle("quake-watch", after: "select t.token, v.id")
    watch.closeOutput()
    let outcome = try watch.exit().expect(74)
    #expect(outcome.problems.isEmpty, "\(outcome.errors)")
  }

  // MARK: Losing the server

  @Test func aLostConnectionIsRestoredWithoutLosingAChange() throws {
    let watch = try watch(["--json", "--from-start"])
    var received: [String] = []
    for round in 1...2 {
      try database.psql(Self.insert("a\(round)"))
      received.append(try JSONLine(watch.line()).change)
      try database.psql(
        """
        begin;
        \(Self.insert("b\(round)"))
        select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'quake-watch';
        commit;
        """)
      received.append(try JSONLine(watch.line()).change)
      try watch.waitForError("connected again; continuing after token", count: round)
    }
    watch.signal(SIGTERM)
    let outcome = try watch.exit().expect(0, output: "")
    #expect(
      outcome.errors.components(separatedBy: "warning: lost the connection to the database").count
        == 3,
      "\(outcome.errors)")
    #expect(try received == database.history())
  }

  @Test func aBacklogIsReadCompletelyDespiteLostConnections() throws {
    try database.psql(
      """
      insert into quake.quake (code, time) select 'e' || n, now() from generate_series(1, 6000) n;
      do $$ begin
        for n in 1..200 loop
          update quake.quake set sig = n where code = 'e' || n; commit;
        end loop;
      end $$;
      """)
    let watch = try watch(["--json", "--from-start"])
    var received: [String] = []
    for round in 1...3 {
      received += try watch.lines(1000).map { try JSONLine($0).change }
      try database.endSessions(of: "quake-watch")
      try watch.waitForError("connected again", count: round)
    }
    received += try watch.lines(6200 - 3000).map { try JSONLine($0).change }
    let history = try database.history()
    #expect(received.count == history.count)
    #expect(received == history)
  }
}
