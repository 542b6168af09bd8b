import Foundation
import TestSupport
import Testing

/// `quake-watch --exec-batch`: a command for each transaction.
@Suite final class ExecBatchTests: ExecSuite {
  @Test(arguments: [["--exec-batch", "C"], ["--exec", "C", "--exec-batch"]])
  func eachTransactionIsTheInputOfACommand(_ spelling: [String]) throws {
    try insert("a", "b", "c")
    try insert("d")
    try database.psql("update quake.quake set magnitude = 5;")
    let command = "cat; echo \"end $QUAKE_TOKEN ${QUAKE_OP-unset} ${QUAKE_PLACE-unset}\""
    let outcome = try watch(
      ["--from-start", "--no-follow"]
        + spelling.map { $0.replacingOccurrences(of: "C", with: command) },
      environment: ["QUAKE_PLACE": "of the caller"]
    ).exit().expect(0, errors: "")
    var expected = try run(["--json"]).lines
    let ends = try tokens().map { "end \($0) unset unset" }
    for (place, end) in zip([8, 4, 3], ends.reversed()) { expected.insert(end, at: place) }
    #expect(outcome.lines == expected)
  }

  @Test func theFilterLeavesOutChangesAndWholeTransactions() throws {
    try insert("a", "b", "c")
    try insert("d")
    try database.psql("delete from quake.quake where code = 'b';")
    let outcome = try run(["--op", "delete", "--state", "state", "--exec-batch", "wc -l"])
    #expect(outcome.lines == ["1"])
    #expect(try state() == tokens().last)
  }

  @Test func aLargeTransactionNeedsLittleMemory() throws {
    let count = Tools.isSoak ? 1_000_000 : 60_000
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude, place)
      select 'e' || n, now(), 1, repeat('x', 200) from generate_series(1, \(count)) n;
      """)
    let watch = try watch(["--from-start", "--state", "state", "--exec-batch", "wc -l"])
    #expect(try watch.line(within: .seconds(Tools.isSoak ? 600 : 180)) == "\(count)")
    try eventually("the cursor is saved") { try state() == tokens().last }
    let peak = try ProcessMemory.peak(of: watch.pid)
    #expect(peak < 24 * 1024, "peak of \(peak) kB")
    try watch.end()
  }

  @Test func theLimitSplitsNoTransaction() throws {
    try insert((1...1200).map { "e\($0)" })
    try insert("next")
    let arguments = ["--state", "state", "--exec-batch", "wc -l"]
    #expect(try run(["--limit", "3"] + arguments).lines == ["1200"])
    #expect(try state() == tokens().first)
    #expect(try run(arguments).lines == ["1"])
  }

  @Test func aSnapshotIsOneBatchAlsoWithAReset() throws {
    try insert("a", "b")
    try insert("c")
    let command = "cut -c 1-60 | grep -o '\"op\":\"[a-z]*\"' | tr '\\n' ' '; echo"
    for (start, first) in [(["--snapshot"], []), (["--after", "1.00000000"], ["reset"])]
      as [([String], [String])]
    {
      let outcome = try watch(
        start + ["--on-expired", "snapshot", "--no-follow", "--exec-batch", command]
      ).exit()
      let ops = (first + Array(repeating: "snapshot", count: 3)).map { "\"op\":\"\($0)\" " }
      #expect(outcome.lines == [ops.joined()], "\(outcome.errors)")
    }
  }

  // MARK: In the middle of a transaction

  /// Starts a watcher with a large transaction, whose command has begun to read and waits at a
  /// gate.
  private func begin(_ rest: String) throws -> (
    ToolProcess, Gate
  ) {
    let gate = try gate()
    try insert((1...5000).map { "e\($0)" })
    try insert("next")
    let watch = try watch([
      "--from-start", "--state", "state", "--exec-batch", "read line; echo begun; \(rest)",
    ])
    #expect(try watch.line() == "begun")
    return (watch, gate)
  }

  @Test func aLostConnectionSplitsNoTransaction() throws {
    let (watch, gate) = try begin("read line < gate; wc -l")
    try database.endSessions(of: "quake-watch")
    try gate.letOneThrough()
    #expect(try watch.line() == "4999")
    try watch.waitForError("connected again")
    #expect(try watch.line() == "begun")
  }

  /// The command receives all of it again, however many pages it had received.
  @Test func aTransactionInterruptedByACrashIsRepeatedWhole() throws {
    let watch = try begin("head -n 3000 >/dev/null; read line < gate; wc -l").0
    try eventually("the watcher is far into the transaction") {
      try database.sessions(of: "quake-watch", where: "query = 'unlisten *'") == 1
    }
    watch.signal(SIGKILL)
    #expect(try watch.exit().ending == .killed(by: SIGKILL))
    #expect(try state() == "0")
    #expect(try run(["--state", "state", "--exec-batch", "wc -l"]).lines == ["5000", "1"])
  }

  @Test func aSignalSplitsNoTransaction() throws {
    let (watch, gate) = try begin("read line < gate; wc -l")
    watch.signal(SIGTERM)
    try gate.letOneThrough()
    let outcome = try watch.exit().expect(0, lines: ["4999"])
    #expect(outcome.problems.isEmpty)
    #expect(try state() == tokens().first)
  }

  /// A command that has not received the whole transaction must not get an end of input.
  @Test func aCommandIsEndedIfItsTransactionCannotBeReadWhole() throws {
    let (watch, gate) = try begin(
      "trap 'echo told; exit 1' TERM; read line < gate; wc -l; echo whole")
    try database.psql(
      """
      begin;
      drop schema quake cascade;
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'quake-watch';
      commit;
      """)
    try gate.letOneThrough()
    let outcome = try watch.exit().expect(78)
    #expect(outcome.lines.last == "told" && !outcome.lines.contains("whole"))
    #expect(try state() == "0")
  }
}
