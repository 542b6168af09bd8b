import Foundation
import TestSupport
import Testing

/// `quake-watch --exec`: a command for each change.
@Suite final class ExecTests: ExecSuite {
  @Test func eachChangeIsTheInputOfACommand() throws {
    try insert("a", "b")
    try database.psql(
      """
      update quake.quake set magnitude = 5 where code = 'a';
      delete from quake.quake where code = 'b';
      truncate quake.quake;
      """)
    let expected = try run(["--json"])
    let outcome = try run(["--exec", "cat"]).expect(0, output: expected.output, errors: "")
    #expect(outcome.lines.count == 5)
    // One process for each change, with the watcher's outputs.
    let each = try run(["--exec", "wc -l; echo message >&2", "--op", "insert,update"])
    #expect(each.lines == ["1", "1", "1"] && each.errors == "message\nmessage\nmessage\n")
  }

  @Test func variablesDescribeTheChange() throws {
    try insert("a")
    try database.psql(
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
    let outcome = try watch(
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
    #expect(try outcome.lines == zip(tokens(), expected).map { "\($0) \($1)" })
  }

  /// Values from feeds and writers are never run as code.
  @Test func hostileValuesAreData() throws {
    let hostile = "'\"; $(touch hacked) `touch hacked`; -rf \\ * ~ |&> () { :; }; touch hacked %s é"
    try database.psql(
      """
      insert into quake.quake (code, time, place) values
        ($q$\(hostile)$q$, now(), $q$\(hostile)$q$),
        (E'two\\nlines', now(), E'Subject\\r\\nBcc: all\\u001b[2J\\tx'),
        ('empty', now(), ''),
        ('long', now(), repeat('x', 60000));
      """)
    let outcome = try run([
      "--exec", "printf '%s|' \"$QUAKE_CODE\" \"${QUAKE_PLACE-unset}\"; wc -l",
    ]).expect(0)
    #expect(
      outcome.output
        == "\(hostile)|\(hostile)|1\ntwo lines|Subject Bcc: all\u{FFFD}[2J x|1\nempty||1\n"
        + "long|\(String(repeating: "x", count: 4096))…|1\n")
    #expect(!FileManager.default.fileExists(atPath: file("hacked")))
    // The input has the values unchanged.
    let inputs = try run(["--exec", "cat"]).lines.map(JSONLine.init)
    #expect(inputs.map { $0.string("code") } == [hostile, "two\nlines", "empty", "long"])
    #expect(inputs[1]["new"]?.string("place") == "Subject\r\nBcc: all\u{1B}[2J\tx")
    #expect(inputs[3]["new"]?.string("place")?.count == 60_000)
  }

  @Test func aCommandNeedNotReadItsInput() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, place, title, url, detail)
      select 'e' || n, now(), x, x, x, x from generate_series(1, 5) n, repeat('x', 65000) x;
      """)
    for command in ["true", "read line; exec <&-"] {
      try run(["--exec", command, "--state", "state-\(command.count)"]).expect(
        0, errors: "", with: command)
    }
  }

  @Test func aCommandInheritsNothing() throws {
    try insert("a")
    // The fourth descriptor is the folder that ls reads.
    let open = try run(["--state", "state", "--exec", "exec ls /proc/self/fd"])
    #expect(open.lines == ["0", "1", "2", "3"])
    // Signals 32 and 33 are the C library's own.
    let signals = try run([
      "--exec", "exec grep -cE '^Sig(Blk|Ign):.*[08]0000000$' /proc/self/status",
    ])
    #expect(signals.lines == ["2"])
  }

  @Test func manyCommandsLeaveNothingBehind() throws {
    let watch = try watch(["--exec", "echo x", "--jobs", "2"])
    try database.waitForIdle("quake-watch", after: "select t.token, v.id")
    func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/\(watch.pid)/fd").count
    }
    let before = try descriptors()
    let hundreds = Tools.isSoak ? 20 : 5
    try insert((1...hundreds * 100).map { "e\($0)" })
    var most = 0
    for _ in 0..<hundreds {
      _ = try watch.lines(100)
      most = try max(most, descriptors())
    }
    #expect(most <= before + 8)
    try eventually("no child process or descriptor is left") {
      try contents(of: "/proc/\(watch.pid)/task/\(watch.pid)/children")
        .isEmpty && descriptors() == before
    }
    watch.signal(SIGTERM)
    let outcome = try watch.exit().expect(0, output: "")
    #expect(outcome.problems.isEmpty)
  }

  // MARK: Several at once

  @Test func changesOfOneEventStayInOrder() throws {
    let events = (0..<12).map { "e\($0)" }
    try insert(events)
    for round in 1...6 {
      try database.psql("update quake.quake set sig = \(round) where code <= 'e\(round)';")
    }
    try database.psql("truncate quake.quake;")
    try insert(events)
    // Each command creates a folder for its event, which fails while another command for the event
    // runs.
    // At first, those of e0 and e1 meet: that of e1 counts both.
    try #require(mkfifo(file("meet"), 0o600) == 0 && mkfifo(file("met"), 0o600) == 0)
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
    let outcome = try run(["--jobs", "8", "--exec", command]).expect(0, errors: "")
    let counts = outcome.lines.compactMap { Int($0) }
    #expect(counts.count == outcome.lines.count, "\(outcome.lines)")
    #expect(counts.max().map { (2...8).contains($0) } == true, "\(counts)")
    let history = try database.history()
    for code in events {
      #expect(
        try lines(of: "\(code).log") == history.filter { $0.hasSuffix(" \(code)") },
        "\(code)")
    }
    let ops = try lines(of: "all-ops")
    #expect(ops.count == history.count && ops.suffix(12).allSatisfy { $0 == "insert" })
    #expect(ops[ops.count - 13] == "truncate")
  }

  // MARK: Snapshots

  @Test func aSnapshotRunsCommandsAndAResetOneOfItsOwn() throws {
    try insert("a", "b")
    let whole = try watch([
      "--snapshot", "--no-follow", "--state", "state", "--exec", "echo $QUAKE_OP $QUAKE_CODE",
    ]).exit()
    #expect(whole.lines == ["snapshot a", "snapshot b"])
    #expect(try state() == tokens().last)
    try watch([
      "--after", "1.00000000", "--on-expired", "snapshot", "--no-follow", "--exec",
      "echo $QUAKE_OP ${QUAKE_CODE-none} ${QUAKE_POSITION-none}; grep -o diverged || true",
    ]).exit().expect(0, lines: ["reset none none", "diverged", "snapshot a 0", "snapshot b 1"])
  }

  /// The server need not keep notifications for a watcher that waits for a command.
  @Test func theWatcherDoesNotListenDuringALongCommand() throws {
    let gate = try gate()
    let watch = try watch(["--exec", "read line < gate; echo $QUAKE_CODE"])
    try database.waitForIdle("quake-watch", after: "select t.token, v.id")
    try insert("a")
    try eventually("it does not listen any more") {
      try database.sessions(of: "quake-watch", where: "query = 'unlisten *'") == 1
    }
    try insert("b")
    for code in ["a", "b"] {
      try gate.letOneThrough()
      #expect(try watch.line() == code)
    }
    try database.waitForIdle("quake-watch", after: "select t.token, v.id")
    try insert("c")
    try gate.letOneThrough()
    #expect(try watch.line() == "c")
  }
}
