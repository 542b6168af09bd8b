import Postgres
import QuakeHistory
import QuakeModel
import TestSupport
import Testing

/// A program that writes notices that the history lacks a transaction that it has seen, and nothing else.
@Suite final class SeenHistoryTests: DatabaseSuite {
  private var seen = SeenHistory()

  override init() throws {
    try super.init()
    try insert("a", "b", "c", "d")
  }

  private func insert(_ codes: String...) throws {
    for code in codes {
      try connection.run("insert into quake.quake (code, time) values ('\(code)', now())")
    }
  }

  /// Removes the transactions from a number on, as if they had never been.
  private func forget(from token: Int) throws {
    try connection.run(
      """
      delete from quake.quake_version v using quake.change_transaction t
       where t.transaction_id = v.transaction_id and t.token >= \(token)
      """, "delete from quake.change_transaction where token >= \(token)",
      "select setval('quake.token', \(token - 1))")
  }

  private func problem() throws -> StoreError? { try seen.resume(over: connection) }

  @Test func aHistoryThatEndsBeforeItIsDiverged() throws {
    try seen.advance(over: connection)
    try forget(from: 4)
    let newest = try HistoryReader.latestToken(over: connection)
    let error = try #require(try problem())
    #expect(
      error.kind == .token(.diverged) && error.message.hasPrefix("history diverged at token 4."))
    #expect(error.detail == "The newest transaction there is \(newest).")
    // It is reported once.
    #expect(try problem() == nil)
  }

  @Test func aConnectionLostBeforeTheComparisonHidesNothing() throws {
    try seen.advance(over: connection)
    try forget(from: 4)
    let other = try database.connect()
    // The newest token can still be read there, and what it is compared with cannot.
    try other.run("set search_path = ''", "set statement_timeout = '300ms'")
    try connection.run("begin", "lock table quake.change_transaction")
    #expect(throws: (any Error).self) { try seen.resume(over: other) }
    try connection.run("rollback")
    #expect(try problem() != nil)
  }

  @Test func anotherTransactionOfTheSameNumberIsDiverged() throws {
    try seen.advance(over: connection)
    try forget(from: 4)
    try insert("x", "y")
    let error = try #require(try problem())
    #expect(error.detail?.hasPrefix("Transaction 4 is 4.") == true)
  }

  @Test func aGapInItsPlaceIsDiverged() throws {
    try seen.advance(over: connection)
    try forget(from: 4)
    // Numbers may be lost.
    try connection.run("select setval('quake.token', 8)")
    try insert("x")
    let error = try #require(try problem())
    #expect(error.detail?.contains(", names 3.") == false, "\(error)")
    #expect(error.detail?.contains("names 3.") == true, "\(error)")
  }

  @Test func aPurgeIsNoProblem() throws {
    try seen.advance(over: connection)
    try connection.run("update quake.quake set place = 'x'", "update quake.quake set place = 'y'")
    _ = try Retention(connection: connection).purge(before: .age(.zero))
    #expect(
      try database.value("select count(*) from quake.change_transaction where token = 4") == "0")
    #expect(try problem() == nil)
  }
}
