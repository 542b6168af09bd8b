import Foundation
import TestSupport
import Testing

/// Commands that fail, and watchers that are stopped while commands run.
@Suite struct ExecFailureTests {
  private let scene: ExecScene

  init() throws { scene = try ExecScene() }

  // MARK: stop

  @Test(arguments: [["--state", "state"], ["--name", "alerts"]])
  func aFailureStopsExactlyBeforeItsChange(_ cursor: [String]) throws {
    try scene.insert("first")
    try scene.insert("a", "b", "c", "d")
    let arguments =
      cursor + ["--exec", "echo $QUAKE_CODE; test $QUAKE_CODE != c || test -e ready || exit 3"]
    let token = try scene.tokens()[1]
    for round in 1...2 {
      let outcome = try scene.run(arguments)
      #expect(outcome.status == 1)
      #expect(outcome.lines == (round == 1 ? ["first", "a", "b", "c"] : ["c"]))
      #expect(
        outcome.errors.hasPrefix(
          "quake-watch: error: command for insert c (token \(token), position 2) exited with "
            + "status 3\n  hint: The next start tries it again."), "\(outcome.errors)")
    }
    try scene.make("ready")
    #expect(try scene.run(arguments).lines == ["c", "d"])
    #expect(try scene.run(arguments).lines.isEmpty)
  }

  @Test func aFailureAtTheStartOfATransactionLeavesTheCursorBeforeIt() throws {
    try scene.insert("a", "b")
    try scene.insert("c")
    let arguments = ["--state", "state", "--exec", "echo $QUAKE_CODE; test $QUAKE_CODE != c"]
    #expect(try scene.run(arguments).status == 1)
    #expect(try scene.state() == scene.tokens()[0])
    #expect(try scene.run(arguments).lines == ["c"])
    #expect(try scene.state() == scene.tokens()[0])
  }

  /// A cursor cannot name a position within a snapshot.
  @Test func aSnapshotWhoseCommandFailsBeginsAgain() throws {
    try scene.database.psql(
      """
      insert into quake.quake (code, time)
      select 'e' || n, now() - n * interval '1 second' from generate_series(1, 3000) n;
      """)
    let arguments = [
      "--snapshot", "--no-follow", "--state", "state", "--op", "insert", "--exec",
      "echo $QUAKE_CODE; test $QUAKE_CODE != e3",
    ]
    for _ in 1...2 {
      let outcome = try scene.watch(arguments).exit()
      #expect(outcome.status == 1 && outcome.lines == ["e1", "e2", "e3"], "\(outcome.errors)")
      #expect(outcome.errors.contains("command for snapshot of e3 (token "))
      #expect(try scene.state() == "none")
    }
  }

  @Test func eachKindOfFailureOfACommandIsNamed() throws {
    try scene.insert("a")
    for (command, words) in [
      ("kill -9 $$", "was ended by signal 9"), ("nonexistent-program", "exited with status 127"),
    ] {
      let outcome = try scene.run(["--exec", command])
      #expect(outcome.status == 1 && outcome.errors.contains(words), "\(outcome.errors)")
      #expect(outcome.errors.contains("hint: The next start cannot resume here"))
    }
  }

  /// Without a descriptor for its input the shell cannot be started at all.
  @Test func aCommandThatCannotBeStarted() throws {
    try scene.insert("a")
    let command = """
      ulimit -n 8; exec quake-watch --database '\(scene.database.conninfo)' --from-start \
      --no-follow --exec true
      """
    let outcome = try Tools.shell(command)
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.contains("was not run: could not run \"/bin/sh\": Too many open files"),
      "\(outcome.errors)")
  }

  /// Other commands run at the same time. The saved cursor is before the first change that is not
  /// done.
  @Test func withSeveralJobsNoChangeIsSkipped() throws {
    try scene.insert("a", "b", "c", "d", "e", "f")
    let gate = try scene.gate()
    let arguments = [
      "--jobs", "4", "--state", "state", "--exec",
      "echo $QUAKE_CODE >> done; test $QUAKE_CODE != b || test -e ready || { read line < gate; exit 1; }",
    ]
    let watch = try scene.watch(["--from-start", "--no-follow"] + arguments)
    // The other commands run, because there are free jobs.
    try eventually("all commands have begun") { try scene.lines(of: "done").count == 6 }
    try gate.letOneThrough()
    let outcome = try watch.exit()
    #expect(outcome.status == 1 && outcome.errors.contains("command for insert b ("))
    #expect(try scene.state() == "\(scene.tokens()[0]) 1")
    try scene.make("ready")
    try FileManager.default.removeItem(atPath: scene.file("done"))
    #expect(try scene.run(arguments).status == 0)
    #expect(try Set(scene.lines(of: "done")) == ["b", "c", "d", "e", "f"])
  }

  @Test func ofSeveralFailuresTheEarliestChangeCounts() throws {
    try scene.insert("a", "b", "c", "d")
    let (gate, later) = try (scene.gate("gate"), scene.gate("later"))
    let watch = try scene.watch([
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
    let outcome = try watch.exit()
    #expect(outcome.status == 1 && outcome.errors.contains("command for insert b ("))
    #expect(outcome.errors.contains("exited with status 2"))
    #expect(try scene.state() == "\(scene.tokens()[0]) 1")
  }

  @Test func afterAFailureNoCommandsAreStarted() throws {
    try scene.insert((1...600).map { "e\($0)" })
    let (gate, others) = try (scene.gate(), scene.gate("others"))
    let watch = try scene.watch([
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
      try String(contentsOfFile: children, encoding: .utf8).split(separator: " ").count
    }
    #expect(try running() == 8)
    try gate.letOneThrough()
    try eventually("the failure has been noticed") { try running() == 7 }
    for _ in 1...7 { try others.letOneThrough() }
    let outcome = try watch.exit()
    #expect(outcome.status == 1 && outcome.lines.isEmpty, "\(outcome)")
    #expect(outcome.errors.contains("command for insert e3 ("), "\(outcome.errors)")
    #expect(try scene.state() == "\(scene.tokens()[0]) 2")
  }

  @Test func aBatchThatFailsIsRepeatedWhole() throws {
    try scene.insert("a")
    try scene.insert((1...1500).map { "b\($0)" })
    try scene.insert("c")
    for command in ["wc -l", "head -n 600 | wc -l"] {
      let state = "state-\(command.count)"
      let arguments = [
        "--state", state, "--exec-batch",
        "\(command); test -e ready-\(state) || test $QUAKE_TOKEN != \(try scene.tokens()[1])",
      ]
      let outcome = try scene.run(arguments)
      let count = command == "wc -l" ? "1500" : "600"
      #expect(outcome.status == 1 && outcome.lines == ["1", count])
      #expect(
        try outcome.errors.hasPrefix(
          "quake-watch: error: command for transaction \(scene.tokens()[1]) exited with status 1"))
      #expect(try scene.lines(of: state) == [scene.tokens()[0]])
      try scene.make("ready-\(state)")
      #expect(try scene.run(arguments).lines == [count, "1"])
    }
  }

  // MARK: skip

  @Test func aFailedChangeMayBeSkipped() throws {
    try scene.insert("a", "b", "c")
    let outcome = try scene.run([
      "--jobs", "4", "--state", "state", "--exec-failure", "skip", "--exec",
      "test $QUAKE_CODE != b && echo $QUAKE_CODE",
    ])
    #expect(outcome.status == 0 && Set(outcome.lines) == ["a", "c"])
    #expect(outcome.errors.components(separatedBy: "warning: command for insert b (").count == 2)
    #expect(try scene.state() == scene.tokens()[0])
    let batch = try scene.run(["--exec-failure", "skip", "--exec-batch", "false"])
    #expect(batch.status == 0 && batch.errors.contains("warning: command for transaction"))
  }

  // MARK: Signals

  @Test(arguments: [SIGTERM, SIGINT])
  func aSignalWaitsForTheCommandAndSavesTheCursor(_ signal: Int32) throws {
    try scene.insert("a", "b", "c")
    let gate = try scene.gate()
    let arguments = [
      "--from-start", "--state", "state", "--exec", "echo $QUAKE_CODE; read line < gate; echo done",
    ]
    let watch = try scene.watch(arguments)
    #expect(try watch.line() == "a")
    watch.signal(signal)
    try gate.letOneThrough()
    let outcome = try watch.exit()
    #expect(outcome.ending == .exited(0) && outcome.problems.isEmpty)
    #expect(outcome.lines == ["done"])
    #expect(try scene.state() == "\(scene.tokens()[0]) 1")
    let next = try scene.watch(arguments)
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
    try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8).contains(") Z ")
  }

  /// A service manager signals a service's commands too, perhaps before the service.
  @Test(arguments: [[], ["--exec-failure", "skip"]])
  func aCommandThatIsStoppedWithTheWatcherHasNotFailed(_ policy: [String]) throws {
    try scene.insert("a", "b")
    // The watcher waits 200 ms for its own signal. If this test was held up in between, it tries again.
    var gap = Duration.zero
    let deadline = ContinuousClock.now + ToolProcess.patience
    repeat {
      try? FileManager.default.removeItem(atPath: scene.file("state"))
      let watch = try scene.watch(
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
      #expect(try scene.state() == "\(scene.tokens()[0]) 1")
    } while gap >= .milliseconds(150) && ContinuousClock.now < deadline
    #expect(gap < .milliseconds(150))
  }

  @Test func aKilledWatcherSkipsNoChange() throws {
    try scene.insert((1...40).map { "e\($0)" })
    let gate = try scene.gate()
    let arguments = [
      "--from-start", "--state", "state", "--exec",
      "echo $QUAKE_CODE; test $QUAKE_CODE != \"${LAST-}\" || read line < gate",
    ]
    var seen: [String] = []
    for last in ["e10", "e20", "e30"] {
      // It is killed while this command runs, which ends with the gate.
      let watch = try scene.watch(arguments, environment: ["LAST": last])
      repeat { seen.append(try watch.line()) } while seen.last != last
      watch.signal(SIGKILL)
      #expect(try watch.exit().lines.isEmpty)
    }
    withExtendedLifetime(gate) {}
    seen += try scene.run(Array(arguments.dropFirst())).lines
    #expect(Set(seen) == Set((1...40).map { "e\($0)" }))
  }
}
