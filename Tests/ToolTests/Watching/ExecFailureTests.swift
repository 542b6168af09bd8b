import Foundation
import TestSupport
import Testing

/// Commands that fail, and watchers that are stopped while commands run.
@Suite final class ExecFailureTests: ExecSuite {
  // MARK: stop

  @Test(arguments: [["--state", "state"], ["--name", "alerts"]])
  func aFailureStopsExactlyBeforeItsChange(_ cursor: [String]) throws {
    try insert("first")
    try insert("a", "b", "c", "d")
    let arguments =
      cursor + ["--exec", "echo $QUAKE_CODE; test $QUAKE_CODE != c || test -e ready || exit 3"]
    let token = try tokens()[1]
    for round in 1...2 {
      let outcome = try run(arguments).expect(
        1, lines: (round == 1 ? ["first", "a", "b", "c"] : ["c"]))
      #expect(
        outcome.errors.hasPrefix(
          "quake-watch: error: command for insert c (token \(token), position 2) exited with "
            + "status 3\n  hint: The next start tries it again."), "\(outcome.errors)")
    }
    try make("ready")
    #expect(try run(arguments).lines == ["c", "d"])
    #expect(try run(arguments).lines.isEmpty)
  }

  @Test func aFailureAtTheStartOfATransactionLeavesTheCursorBeforeIt() throws {
    try insert("a", "b")
    try insert("c")
    let arguments = ["--state", "state", "--exec", "echo $QUAKE_CODE; test $QUAKE_CODE != c"]
    #expect(try run(arguments).status == 1)
    #expect(try state() == tokens()[0])
    #expect(try run(arguments).lines == ["c"])
    #expect(try state() == tokens()[0])
  }

  /// A cursor cannot name a position within a snapshot.
  @Test func aSnapshotWhoseCommandFailsBeginsAgain() throws {
    try database.psql(
      """
      insert into quake.quake (code, time)
      select 'e' || n, now() - n * interval '1 second' from generate_series(1, 3000) n;
      """)
    let arguments = [
      "--snapshot", "--no-follow", "--state", "state", "--op", "insert", "--exec",
      "echo $QUAKE_CODE; test $QUAKE_CODE != e3",
    ]
    for _ in 1...2 {
      try watch(arguments).exit().expect(
        1, "command for snapshot of e3 (token ", lines: ["e1", "e2", "e3"])
      #expect(try state() == "none")
    }
  }

  @Test func eachKindOfFailureOfACommandIsNamed() throws {
    try insert("a")
    for (command, words) in [
      ("kill -9 $$", "was ended by signal 9"), ("nonexistent-program", "exited with status 127"),
    ] { try run(["--exec", command]).expect(1, words, "hint: The next start cannot resume here") }
  }

  /// Without a descriptor for its input the shell cannot be started at all.
  @Test func aCommandThatCannotBeStarted() throws {
    try insert("a")
    let command = """
      ulimit -n 8; exec quake-watch --database '\(database.conninfo)' --from-start \
      --no-follow --exec true
      """
    try Tools.shell(command).expect(
      1, "was not run: could not run \"/bin/sh\": Too many open files")
  }

  /// Other commands run at the same time. The saved cursor is before the first change that is not
  /// done.
  @Test func withSeveralJobsNoChangeIsSkipped() throws {
    try insert("a", "b", "c", "d", "e", "f")
    let gate = try gate()
    let arguments = [
      "--jobs", "4", "--state", "state", "--exec",
      "echo $QUAKE_CODE >> done; test $QUAKE_CODE != b || test -e ready || { read line < gate; exit 1; }",
    ]
    let watch = try watch(["--from-start", "--no-follow"] + arguments)
    // The other commands run, because there are free jobs.
    try eventually("all commands have begun") { try lines(of: "done").count == 6 }
    try gate.letOneThrough()
    try watch.exit().expect(1, "command for insert b (")
    #expect(try state() == "\(tokens()[0]) 1")
    try make("ready")
    try FileManager.default.removeItem(atPath: file("done"))
    #expect(try run(arguments).status == 0)
    #expect(try Set(lines(of: "done")) == ["b", "c", "d", "e", "f"])
  }

  @Test func ofSeveralFailuresTheEarliestChangeCounts() throws {
    try insert("a", "b", "c", "d")
    let (gate, later) = try (gate("gate"), gate("later"))
    let watch = try watch([
      "--from-start", "--jobs", "4", "--state", "state", "--exec",
      """
      case $QUAKE_CODE in
        b) read line < later; exit 2;;
        d) read line < gate; exit 4;;
      esac
      """,
    ])
    try gate.letOneThrough()
    try later.letOneThrough()
    try watch.exit().expect(1, "command for insert b (", "exited with status 2")
    #expect(try state() == "\(tokens()[0]) 1")
  }

  @Test func afterAFailureNoCommandsAreStarted() throws {
    try insert((1...600).map { "e\($0)" })
    let (gate, others) = try (gate(), gate("others"))
    let watch = try watch([
      "--from-start", "--no-follow", "--jobs", "8", "--state", "state", "--exec",
      """
      echo $QUAKE_CODE
      test $QUAKE_CODE != e3 || { read line < gate; exit 1; }
      read line < others
      """,
    ])
    #expect(try Set(watch.lines(8)) == Set((1...8).map { "e\($0)" }))
    // The failed command is gone when the watcher has noticed its end.
    let children = "/proc/\(watch.pid)/task/\(watch.pid)/children"
    func running() throws -> Int {
      try contents(of: children).split(separator: " ").count
    }
    #expect(try running() == 8)
    try gate.letOneThrough()
    try eventually("the failure has been noticed") { try running() == 7 }
    for _ in 1...7 { try others.letOneThrough() }
    let outcome = try watch.exit().expect(1, "command for insert e3 (")
    #expect(outcome.lines.isEmpty, "\(outcome)")
    #expect(try state() == "\(tokens()[0]) 2")
  }

  @Test func aBatchThatFailsIsRepeatedWhole() throws {
    try insert("a")
    try insert((1...1500).map { "b\($0)" })
    try insert("c")
    for command in ["wc -l", "head -n 600 | wc -l"] {
      let state = "state-\(command.count)"
      let arguments = [
        "--state", state, "--exec-batch",
        "\(command); test -e ready-\(state) || test $QUAKE_TOKEN != \(try tokens()[1])",
      ]
      let outcome = try run(arguments)
      let count = command == "wc -l" ? "1500" : "600"
      #expect(outcome.status == 1 && outcome.lines == ["1", count])
      #expect(
        try outcome.errors.hasPrefix(
          "quake-watch: error: command for transaction \(tokens()[1]) exited with status 1"))
      #expect(try lines(of: state) == [tokens()[0]])
      try make("ready-\(state)")
      #expect(try run(arguments).lines == [count, "1"])
    }
  }

  // MARK: skip

  @Test func aFailedChangeMayBeSkipped() throws {
    try insert("a", "b", "c")
    let outcome = try run([
      "--jobs", "4", "--state", "state", "--exec-failure", "skip", "--exec",
      "test $QUAKE_CODE != b && echo $QUAKE_CODE",
    ]).expect(0)
    #expect(Set(outcome.lines) == ["a", "c"])
    #expect(outcome.errors.components(separatedBy: "warning: command for insert b (").count == 2)
    #expect(try state() == tokens()[0])
    try run(["--exec-failure", "skip", "--exec-batch", "false"]).expect(
      0, "warning: command for transaction")
  }

  // MARK: Signals

  @Test(arguments: [SIGTERM, SIGINT])
  func aSignalWaitsForTheCommandAndSavesTheCursor(_ signal: Int32) throws {
    try insert("a", "b", "c")
    let gate = try gate()
    let arguments = [
      "--from-start", "--state", "state", "--exec", "echo $QUAKE_CODE; read line < gate; echo done",
    ]
    let watch = try watch(arguments)
    #expect(try watch.line() == "a")
    watch.signal(signal)
    try gate.letOneThrough()
    let outcome = try watch.exit().expect(0, lines: ["done"])
    #expect(outcome.problems.isEmpty)
    #expect(try state() == "\(tokens()[0]) 1")
    let next = try self.watch(arguments)
    #expect(try next.line() == "b")
    next.signal(signal)
    next.signal(signal)
    // The second signal may arrive before the first has been handled; then the two are one.
    try eventually("the second signal ends it") {
      next.signal(signal)
      return try Self.isZombie(next.pid)
    }
    #expect(try next.exit().ending == .exited(128 + signal))
    // The command still runs: let it end.
    try gate.letOneThrough()
  }

  private static func isZombie(_ pid: pid_t) throws -> Bool {
    try contents(of: "/proc/\(pid)/stat").contains(") Z ")
  }

  /// A service manager signals a service's commands too, perhaps before the service.
  @Test(arguments: [[], ["--exec-failure", "skip"]])
  func aCommandThatIsStoppedWithTheWatcherHasNotFailed(_ policy: [String]) throws {
    try insert("a", "b")
    // The watcher waits 200 ms for its own signal. If this test was held up in between, it tries again.
    var gap = Duration.zero
    let deadline = ContinuousClock.now + ToolProcess.patience
    repeat {
      try? FileManager.default.removeItem(atPath: file("state"))
      let watch = try watch(
        policy + [
          "--from-start", "--state", "state", "--exec",
          "test $QUAKE_CODE = a || { echo $$; exec sleep 300; }",
        ])
      let command = try #require(pid_t(watch.line()))
      let begun = ContinuousClock.now
      kill(command, SIGTERM)
      watch.signal(SIGTERM)
      gap = ContinuousClock.now - begun
      let outcome = try watch.exit()
      guard gap < .milliseconds(150) else { continue }
      #expect(outcome.ending == .exited(0) && outcome.problems.isEmpty, "\(outcome.errors)")
      #expect(try state() == "\(tokens()[0]) 1")
    } while gap >= .milliseconds(150) && ContinuousClock.now < deadline
    #expect(gap < .milliseconds(150))
  }

  @Test func aKilledWatcherSkipsNoChange() throws {
    try insert((1...40).map { "e\($0)" })
    let gate = try gate()
    let arguments = [
      "--from-start", "--state", "state", "--exec",
      "echo $QUAKE_CODE; test $QUAKE_CODE != \"${LAST-}\" || read line < gate",
    ]
    var seen: [String] = []
    for last in ["e10", "e20", "e30"] {
      // It is killed while this command runs, which ends with the gate.
      let watch = try watch(arguments, environment: ["LAST": last])
      repeat { seen.append(try watch.line()) } while seen.last != last
      watch.signal(SIGKILL)
      #expect(try watch.exit().lines.isEmpty)
    }
    withExtendedLifetime(gate) {}
    seen += try run(Array(arguments.dropFirst())).lines
    #expect(Set(seen) == Set((1...40).map { "e\($0)" }))
  }
}
