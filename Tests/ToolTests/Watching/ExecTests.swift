import Foundation
import TestSupport
import Testing

/// `quake-watch --exec`: a command for each change.
@Suite struct ExecTests {
  private let scene: ExecScene

  init() throws { scene = try ExecScene() }

  @Test func eachChangeIsTheInputOfACommand() throws {
    try scene.insert("a", "b")
    try scene.database.psql(
      """
      update quake.quake set magnitude = 5 where code = 'a';
      delete from quake.quake where code = 'b';
      truncate quake.quake;
      """)
    let expected = try scene.run(["--json"])
    let outcome = try scene.run(["--exec", "cat"])
    #expect(outcome.status == 0 && outcome.lines.count == 5)
    #expect(outcome.output == expected.output && outcome.errors.isEmpty)
    // One process for each change, with the watcher's outputs.
    let each = try scene.run(["--exec", "wc -l; echo message >&2", "--op", "insert,update"])
    #expect(each.lines == ["1", "1", "1"] && each.errors == "message\nmessage\nmessage\n")
  }

  @Test func variablesDescribeTheChange() throws {
    try scene.insert("a")
    try scene.database.psql(
      """
      update quake.quake set magnitude = 5, place = 'Elsewhere' where code = 'a';
      update quake.quake set magnitude = null, place = null where code = 'a';
      delete from quake.quake where code = 'a';
      truncate quake.quake;
      """)
    let command = """
      printf '%s ' "$QUAKE_TOKEN" "$QUAKE_POSITION" "$QUAKE_OP" "${QUAKE_CODE-unset}" \
      "${QUAKE_MAGNITUDE-unset}" "${QUAKE_PLACE-unset}" "${QUAKE_TIME-unset}"; echo
      """
    let outcome = try scene.watch(
      ["--from-start", "--no-follow", "--exec", command],
      environment: ["QUAKE_PLACE": "of the caller", "QUAKE_CODE": "of the caller"]
    ).exit()
    let expected = [
      "0 insert a 4.5 Nowhere 2024-05-06T07:08:09.000Z ",
      "0 update a 5.0 Elsewhere 2024-05-06T07:08:09.000Z ",
      "0 update a unset unset 2024-05-06T07:08:09.000Z ",
      "0 delete a unset unset 2024-05-06T07:08:09.000Z ",
      "0 truncate unset unset unset unset ",
    ]
    #expect(try outcome.lines == zip(scene.tokens(), expected).map { "\($0) \($1)" })
  }

  /// Values from feeds and writers are never run as code.
  @Test func hostileValuesAreData() throws {
    let hostile = "'\"; $(touch hacked) `touch hacked`; -rf \\ * ~ |&> () { :; }; touch hacked %s é"
    try scene.database.psql(
      """
      insert into quake.quake (code, time, place) values
        ($q$\(hostile)$q$, now(), $q$\(hostile)$q$),
        (E'two\\nlines', now(), E'Subject\\r\\nBcc: all\\u001b[2J\\tx'),
        ('empty', now(), ''),
        ('long', now(), repeat('x', 60000));
      """)
    let outcome = try scene.run([
      "--exec", "printf '%s|' \"$QUAKE_CODE\" \"${QUAKE_PLACE-unset}\"; wc -l",
    ])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output
        == "\(hostile)|\(hostile)|1\ntwo lines|Subject Bcc: all\u{FFFD}[2J x|1\nempty||1\n"
        + "long|\(String(repeating: "x", count: 4096))…|1\n")
    #expect(!FileManager.default.fileExists(atPath: scene.file("hacked")))
    // The input has the values unchanged.
    let inputs = try scene.run(["--exec", "cat"]).lines.map(JSONLine.init)
    #expect(inputs.map { $0.string("code") } == [hostile, "two\nlines", "empty", "long"])
    #expect(inputs[1]["new"]?.string("place") == "Subject\r\nBcc: all\u{1B}[2J\tx")
    #expect(inputs[3]["new"]?.string("place")?.count == 60_000)
  }

  @Test func aCommandNeedNotReadItsInput() throws {
    try scene.database.psql(
      """
      insert into quake.quake (code, time, place, title, url, detail)
      select 'e' || n, now(), x, x, x, x from generate_series(1, 5) n, repeat('x', 65000) x;
      """)
    for command in ["true", "read line; exec <&-"] {
      let outcome = try scene.run(["--exec", command, "--state", "state-\(command.count)"])
      #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(command): \(outcome.errors)")
    }
  }

  @Test func aCommandInheritsNothing() throws {
    try scene.insert("a")
    // The fourth descriptor is the folder that ls reads.
    let open = try scene.run(["--state", "state", "--exec", "exec ls /proc/self/fd"])
    #expect(open.lines == ["0", "1", "2", "3"])
    // Signals 32 and 33 are the C library's own.
    let signals = try scene.run([
      "--exec", "exec grep -cE '^Sig(Blk|Ign):.*[08]0000000$' /proc/self/status",
    ])
    #expect(signals.lines == ["2"])
  }

  @Test func manyCommandsLeaveNothingBehind() throws {
    let watch = try scene.watch(["--exec", "echo x", "--jobs", "2"])
    try scene.database.waitForIdle("quake-watch", after: "select t.token, v.id")
    func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/\(watch.pid)/fd").count
    }
    let before = try descriptors()
    let hundreds = Tools.isSoak ? 20 : 5
    try scene.insert((1...hundreds * 100).map { "e\($0)" })
    var most = 0
    for _ in 0..<hundreds {
      _ = try watch.lines(100)
      most = try max(most, descriptors())
    }
    #expect(most <= before + 8)
    try eventually("no child process or descriptor is left") {
      let children = try String(
        contentsOfFile: "/proc/\(watch.pid)/task/\(watch.pid)/children", encoding: .utf8)
      return try children.isEmpty && descriptors() == before
    }
    watch.signal(SIGTERM)
    let outcome = try watch.exit()
    #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.problems.isEmpty)
  }

  // MARK: Several at once

  @Test func changesOfOneEventStayInOrder() throws {
    let events = (0..<12).map { "e\($0)" }
    try scene.insert(events)
    for round in 1...6 {
      try scene.database.psql(
        "update quake.quake set sig = \(round) where code <= 'e\(round)';")
    }
    try scene.database.psql("truncate quake.quake;")
    try scene.insert(events)
    // Each command creates a folder for its event, which fails while another command for the event
    // runs.
    // At first, those of e0 and e1 meet: that of e1 counts both.
    try #require(mkfifo(scene.file("meet"), 0o600) == 0 && mkfifo(scene.file("met"), 0o600) == 0)
    let command = """
      code=${QUAKE_CODE-all}
      mkdir "running.$code" || echo "$code overlaps"
      case "$QUAKE_POSITION $code" in
        "0 e0") test -e "$code.log" || { echo > meet; read line < met; } ;;
        "1 e1") test -e "$code.log" || { read line < meet; set -- running.*; echo $#; echo > met; } ;;
      esac
      set -- running.*; echo $#
      sleep 0.01
      echo "$QUAKE_TOKEN $QUAKE_POSITION $QUAKE_OP $QUAKE_CODE" >> "$code.log"
      echo "$QUAKE_OP" >> all-ops
      set -- running.*; test "$QUAKE_OP" != truncate || test $# = 1 || echo "$* overlap"
      rmdir "running.$code"
      """
    let outcome = try scene.run(["--jobs", "8", "--exec", command])
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    let counts = outcome.lines.compactMap { Int($0) }
    #expect(counts.count == outcome.lines.count, "\(outcome.lines)")
    #expect(counts.max().map { (2...8).contains($0) } == true, "\(counts)")
    let history = try scene.database.history()
    for code in events {
      #expect(
        try scene.lines(of: "\(code).log") == history.filter { $0.hasSuffix(" \(code)") },
        "\(code)")
    }
    let ops = try scene.lines(of: "all-ops")
    #expect(ops.count == history.count && ops.suffix(12).allSatisfy { $0 == "insert" })
    #expect(ops[ops.count - 13] == "truncate")
  }

  // MARK: Snapshots

  @Test func aSnapshotRunsCommandsAndAResetOneOfItsOwn() throws {
    try scene.insert("a", "b")
    let whole = try scene.watch([
      "--snapshot", "--no-follow", "--state", "state", "--exec", "echo $QUAKE_OP $QUAKE_CODE",
    ]).exit()
    #expect(whole.lines == ["snapshot a", "snapshot b"])
    #expect(try scene.state() == scene.tokens().last)
    let outcome = try scene.watch([
      "--after", "1.00000000", "--on-expired", "snapshot", "--no-follow", "--exec",
      "echo $QUAKE_OP ${QUAKE_CODE-none} ${QUAKE_POSITION-none}; grep -o diverged || true",
    ]).exit()
    #expect(outcome.status == 0)
    #expect(
      outcome.lines == ["reset none none", "diverged", "snapshot a 0", "snapshot b 1"])
  }

  /// The server need not keep notifications for a watcher that waits for a command.
  @Test func theWatcherDoesNotListenDuringALongCommand() throws {
    let gate = try scene.gate()
    let watch = try scene.watch(["--exec", "read line < gate; echo $QUAKE_CODE"])
    try scene.database.waitForIdle("quake-watch", after: "select t.token, v.id")
    try scene.insert("a")
    try eventually("it does not listen any more") {
      try scene.database.value(
        "select query from pg_stat_activity where application_name = 'quake-watch' "
          + "and datname = current_database()") == "unlisten *"
    }
    try scene.insert("b")
    for code in ["a", "b"] {
      try gate.letOneThrough()
      #expect(try watch.line() == code)
    }
    try scene.database.waitForIdle("quake-watch", after: "select t.token, v.id")
    try scene.insert("c")
    try gate.letOneThrough()
    #expect(try watch.line() == "c")
  }
}
