import Basics
import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory

@Suite final class DurableCursorTests: DatabaseSuite {
  @Test func onlyTheProcessThatTookADurableCursorLastMovesIt() throws {
    let first = DurableCursor(name: "c")
    try first.begin(at: HistoryCursor(token: .beginning), over: connection)
    try connection.insertQuakes("a", "b")
    let place = HistoryCursor(token: try connection.latestToken())
    let second = DurableCursor(name: "c")
    #expect(try second.take(over: connection) == HistoryCursor(token: .beginning))
    let moved = #expect(throws: StoreError.self) { try first.move(to: place, over: connection) }
    let touched = #expect(throws: StoreError.self) { try first.touch(over: connection) }
    #expect(moved?.kind == .replaced && touched?.kind == .replaced)
    try second.touch(over: connection)
    try second.move(to: place, over: connection)
    #expect(try second.take(over: connection) == place)
    #expect(try DurableCursor.remove("c", over: connection))
    #expect(try !DurableCursor.remove("c", over: connection))
    // Removed, it is not made again by a process that goes on.
    #expect(throws: StoreError.self) { try second.touch(over: connection) }
    #expect(throws: StoreError.self) { try second.move(to: place, over: connection) }
    #expect(try DurableCursor.list(over: connection).isEmpty)
  }

  @Test func aDurableCursorTellsItsLag() throws {
    let begun = ContinuousClock.now
    let begunAt = try connection.ask("select clock_timestamp()")
    try connection.insertQuakes("a", "b", "c", "d")
    try connection.run(
      "update quake.change_transaction set at = now() - interval '1 hour' where token = 3")
    let tokens = try database.tokens().compactMap { ChangeToken($0) }
    try DurableCursor(name: "ahead").begin(
      at: HistoryCursor(token: tokens[3]), over: connection)
    try DurableCursor(name: "behind").begin(
      at: HistoryCursor(token: tokens[1]), over: connection)
    try DurableCursor(name: "new").begin(at: HistoryCursor(token: .beginning), over: connection)
    try DurableCursor(name: "within").begin(
      at: HistoryCursor(token: tokens[3], changes: 1), over: connection)
    let list = try DurableCursor.list(over: connection)
    #expect(list.map(\.name) == ["ahead", "behind", "new", "within"])
    #expect(list.map(\.transactionsBehind) == [0, 2, 4, 1])
    #expect(list[0].secondsBehind == 0)
    let seconds = (ContinuousClock.now - begun).inSeconds
    #expect(list[1].secondsBehind >= 3600 && list[1].secondsBehind <= 3601 + seconds)
    #expect(list[1].cursor == HistoryCursor(token: tokens[1]))
    #expect(list.allSatisfy { !$0.isExpired })
    #expect(
      try connection.ask(
        """
        select bool_and(seen_at between $1::timestamptz and clock_timestamp())::text
          from quake.watcher
        """, [.text(begunAt)]) == "true")
  }
}
