import Foundation
import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory

/// Regressions: each made an operation of a second take minutes.
///
/// Compared is the processor time of PostgreSQL's process, because other tests run at the same time.
@Suite final class HistoryPerformanceTests: DatabaseSuite {
  override init() throws {
    try super.init()
    try connection.run(
      """
      insert into quake.quake (code, time)
      select 'p' || i, '2000-01-01Z'::timestamptz + i * interval '1 minute'
        from generate_series(0, 19999) i
      """, "analyze quake.quake")
  }

  /// The processor time that PostgreSQL's process for this connection has taken while `body` ran, to the
  /// hundredth of a second.
  private func processorTime(of body: () throws -> Void) throws -> Duration {
    let process = try #require(try connection.ask("select pg_backend_pid()"))
    func ticks() throws -> Int {
      let line = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      // The program's name ends at the last parenthesis. Behind it, the 12th word counts the ticks of the
      // program, and the 13th those of the kernel.
      let words = try #require(line.split(separator: ")").last).split(separator: " ")
      return try #require(Int(words[11])) + #require(Int(words[12]))
    }
    let before = try ticks()
    try body()
    return try .seconds(Double(ticks() - before) / Double(sysconf(Int32(_SC_CLK_TCK))))
  }

  @Test func theCostOfManyStatementsGrowsWithTheirNumber() throws {
    func time(_ count: Int) throws -> Duration {
      try processorTime {
        try connection.run(
          """
          do $$ begin
            for i in 0..\(count - 1) loop
              update quake.quake set felt = coalesce(felt, 0) + 1 where code = 'p' || i;
            end loop;
          end $$
          """)
      }
    }
    _ = try time(100)
    // Other programs that load the machine may also cost processor time. A quadratic run takes minutes, so that it
    // has no second chance.
    try eventually("10,000 take less than 20 times as long as 2 × 1,000; quadratic were 50 times") {
      let small = try time(1_000) + time(1_000)
      return try time(10_000) < small * 20
    }
    #expect(
      try connection.ask(
        "select updated from quake.change_transaction order by token desc limit 1") == "10000")
  }

  /// Vacuum tells the planner that the table of running transactions is empty, and the session keeps its plans.
  @Test func theCostOfAStatementDoesNotDependOnThoseBeforeIt() throws {
    func updateThousand(from first: Int) throws -> Int {
      func blocks() throws -> Int {
        try Int(
          connection.ask(
            "select pg_stat_get_xact_blocks_fetched('quake.change_pending'::regclass)") ?? "") ?? 0
      }
      let before = try blocks()
      try connection.run(
        """
        do $$ begin
          for i in \(first)..\(first + 999) loop
            update quake.quake set felt = 1 where code = 'p' || i;
          end loop;
        end $$
        """)
      return try blocks() - before
    }
    try connection.run("vacuum quake.change_pending")
    // After five executions, PL/pgSQL keeps a plan.
    for number in 0..<10 {
      try connection.run("update quake.quake set felt = 2 where code = 'p\(number)'")
    }
    try connection.run("begin")
    let first = try updateThousand(from: 0)
    let second = try updateThousand(from: 1000)
    #expect(first >= 1000 && second <= first + first / 10, "\(first) and \(second) blocks")
    // The row is also found without a search at commit.
    try connection.run("set constraints all immediate")
    #expect(
      try connection.ask(
        "select pg_stat_get_xact_numscans('quake.change_pending'::regclass)") == "0")
    try connection.run("rollback")
  }

  @Test func theCostOfALargeUpdateStaysSmallAfterManySmallOnes() throws {
    for number in 0..<20 {
      try connection.run("update quake.quake set felt = 1 where code = 'p\(number)'")
    }
    let duration = try processorTime { try connection.run("update quake.quake set felt = 2") }
    // 0.8 s with the right plan, 70 s with the wrong one.
    #expect(duration < .seconds(20), "\(duration)")
    #expect(
      try connection.ask(
        "select updated from quake.change_transaction order by token desc limit 1") == "20000")
  }

  /// Rows of 6 kB: pages of 500 of them are too large, and each that is read in vain takes as long as one in use.
  @Test func longTextsAreNotReadTwoAtATime() throws {
    try connection.run(
      """
      update quake.quake set place = repeat('p', 1000), title = repeat('t', 2000), url = repeat('u', 3000)
       where code < 'p104'
      """)
    let expected = try connection.ask("select count(*) from quake.quake where code < 'p104'")
    for order in [HistoryQuery.Order.ascending, .descending] {
      var request = HistoryQuery()
      request.order = order
      request.after = .number(1)
      var reader = try HistoryQueryReader(request, over: connection)
      var (pages, changes) = (1, 0)
      while try !reader.readPage({ _ in changes += 1 }) { pages += 1 }
      #expect("\(changes)" == expected)
      #expect(changes > 400 && pages <= changes / 30 + 2, "\(pages) pages")
    }
  }
}
