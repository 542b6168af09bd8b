import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory

@Suite final class HistoryReaderTests: DatabaseSuite {
  private struct Stop: Error {}

  /// Everything after a token, read to the end.
  private func places(after token: ChangeToken) throws -> [String] {
    var reader = try HistoryReader(connection: connection, after: token)
    var places: [String] = []
    while try !reader.readPage({ places.append($0.place) }) {}
    return places
  }

  /// What SQL says of the same.
  private func expectedPlaces(after token: ChangeToken = .beginning) throws -> [String] {
    try connection.table(
      "select token || ':' || position from quake.changes_since($1)", [.text(token.description)])
  }

  @Test func aReaderGetsEverythingOfAChange() throws {
    let writer = try database.connect(applicationName: "some program")
    try writer.transaction {
      try writer.run("set local quake.author = 'me'", "set local quake.context = 'why'")
      try writer.insertQuakes("a", magnitude: 5)
      try writer.run("update quake.quake set magnitude = 6, place = 'é'")
      try writer.run("delete from quake.quake", "truncate quake.quake")
    }
    // As a client over TCP would have left it.
    try connection.run("update quake.change_transaction set client_address = '192.0.2.7'")
    var changes: [Change] = []
    var reader = try HistoryReader(connection: connection, after: .beginning)
    #expect(try reader.readPage { changes.append($0) })
    try #require(changes.count == 4)
    #expect(changes.map(\.op) == [.insert, .update, .delete, .truncate])
    #expect(changes.map(\.position) == [0, 1, 2, 3])
    #expect(changes.map(\.code) == ["a", "a", "a", nil])
    #expect(changes.map(\.changed) == [[], ["magnitude", "place"], [], []])
    #expect(changes.map { $0.old?.double(.magnitude) } == [nil, 5, 6, nil])
    #expect(changes.map { $0.new?.double(.magnitude) } == [5, 6, nil, nil])
    #expect(changes.map { $0.old?.text(.place) } == [nil, nil, "é", nil])
    let transaction = changes[0].transaction
    #expect(changes.allSatisfy { $0.transaction === transaction })
    #expect(transaction.token == (try connection.latestToken()))
    #expect(transaction.author == "me")
    #expect(transaction.context == "why")
    #expect(transaction.application == "some program")
    #expect(transaction.user == "quake")
    #expect(transaction.processID == Int(writer.serverProcessID))
    #expect(transaction.client == "192.0.2.7")
    #expect(transaction.importID == nil)
    #expect(transaction.changeCount == 4)
    #expect(
      try connection.ask(
        "select at = $1::timestamptz from quake.change_transaction",
        [.text(transaction.at.description)]) == "t")
  }

  @Test func aReaderPassesFromPageToPageAcrossAndInsideTransactions() throws {
    let page = HistoryReader.pageSize
    try connection.insertQuakes("first")
    try connection.insertMany("large", page * 3 + 7)
    for number in 0..<20 { try connection.insertQuakes("small\(number)") }
    // Ends on a page's border, whatever came before.
    try connection.insertMany("fill", page - (1 + page * 3 + 7 + 20) % page)
    try connection.insertMany("whole", page)
    try connection.insertQuakes("last")
    let expected = try expectedPlaces()
    #expect(expected.count == page * 5 + 1)
    var reader = try HistoryReader(connection: connection, after: .beginning)
    var places: [String] = []
    var pages = 0
    while try !reader.readPage({ places.append($0.place) }) { pages += 1 }
    #expect(places == expected)
    // The short page at the end was prefetched; only a page that is requested afterwards tells that it is
    // the end.
    #expect(pages == 6)
    #expect(reader.token == (try connection.latestToken()))
  }

  @Test func aReaderPassesThroughMoreTransactionsThanAPageHasRows() throws {
    try connection.run(
      """
      do $$ begin
        set constraints all immediate;
        for i in 1..1200 loop
          insert into quake.quake (code, time) values ('t' || i, '2024-01-01Z');
        end loop;
      end $$
      """)
    #expect(try connection.ask("select count(*) from quake.change_transaction") == "1200")
    #expect(try places(after: .beginning) == (try expectedPlaces()))
  }

  @Test func aReaderContinuesInATransactionOverANewConnection() throws {
    try connection.insertQuakes("before")
    try connection.insertMany("c", HistoryReader.pageSize * 2)
    try connection.insertQuakes("after")
    let expected = try expectedPlaces()
    for stop in [1, 2, 10, HistoryReader.pageSize, HistoryReader.pageSize + 5, expected.count - 1] {
      var reader = try HistoryReader(connection: connection, after: .beginning)
      var places: [String] = []
      #expect(throws: Stop.self) {
        while try !reader.readPage({ change in
          if places.count == stop { throw Stop() }
          places.append(change.place)
        }) {}
      }
      #expect(places.count == stop)
      var next = try HistoryReader(connection: try database.connect(), continuing: reader)
      while try !next.readPage({ places.append($0.place) }) {}
      #expect(places == expected, "stopped after \(stop)")
    }
  }

  @Test func aReaderBeginsAtAnyPlaceWithinATransaction() throws {
    try connection.insertQuakes("before")
    let size = HistoryReader.pageSize + 20
    try connection.insertMany("p", size)
    let token = try connection.latestToken()
    try connection.insertQuakes("after")
    let expected = Array(try expectedPlaces().dropFirst())
    for changes in [1, 7, HistoryReader.pageSize, HistoryReader.pageSize + 1, size - 1, size] {
      let start = HistoryCursor(token: token, changes: Int64(changes))
      var reader = try HistoryReader(connection: connection, after: start)
      #expect(reader.cursor == start)
      var places: [String] = []
      while try !reader.readPage({ places.append($0.place) }) {}
      #expect(places == Array(expected.dropFirst(changes)), "after \(start)")
      #expect(reader.cursor == HistoryCursor(token: try connection.latestToken()))
    }
  }

  @Test func aReaderRefusesAPlaceBeyondTheEndOfItsTransaction() throws {
    try connection.insertMany("p", 5)
    let token = try connection.latestToken()
    for changes in [6, 1_000] as [Int64] {
      var reader = try HistoryReader(
        connection: connection, after: HistoryCursor(token: token, changes: changes))
      let error = try #require(throws: StoreError.self) {
        _ = try reader.readPage { _ in Issue.record("nothing of it can be the rest") }
      }
      guard case .token(.malformed) = error.kind else { throw error }
    }
  }

  @Test func aReaderBeginsAgainWithTheChangeThatWasRefused() throws {
    try connection.insertQuakes("a", "b", "c")
    var reader = try HistoryReader(connection: connection, after: .beginning)
    #expect(throws: Stop.self) {
      try reader.readPage { if $0.code == "b" { throw Stop() } }
    }
    #expect(reader.token.number == 1)
    var codes: [String?] = []
    #expect(try reader.readPage { codes.append($0.code) })
    #expect(codes == ["b", "c"])
  }

  @Test func aReaderTellsABadTokenFromAnErrorOfTheDatabase() throws {
    func problem(_ text: String) throws -> StoreError.TokenProblem {
      let token = try #require(ChangeToken(text))
      let error = try #require(throws: StoreError.self) {
        _ = try HistoryReader(connection: connection, after: token)
      }
      guard case .token(let problem) = error.kind else { throw error }
      #expect(error.hint != nil && error.detail != nil)
      return problem
    }
    #expect(try problem("1.9f3ac2d1") == .future)
    try connection.insertQuakes("a")
    let token = try connection.latestToken()
    #expect(
      try problem(token.description == "1.9f3ac2d1" ? "1.9f3ac2d2" : "1.9f3ac2d1") == .diverged)
    #expect(try problem("2.9f3ac2d1") == .future)
    try connection.run("drop function quake.token_number(text)")
    #expect(throws: PostgresError.self) {
      _ = try HistoryReader(connection: connection, after: token)
    }
  }

  @Test func aReaderDoesNotContinueOnAnotherHistory() throws {
    let other = try TestDatabase()
    let foreign = try other.connect()
    try connection.insertQuakes("a")
    try connection.insertMany("b", 10)
    try foreign.insertQuakes("a", "b")
    var reader = try HistoryReader(connection: connection, after: .beginning)
    #expect(try reader.readPage { _ in })
    #expect(throws: StoreError.self) {
      _ = try HistoryReader(connection: foreign, continuing: reader)
    }
    // In the middle of the very first transaction, of which the token says nothing yet.
    var partial = try HistoryReader(connection: connection, after: .beginning)
    #expect(throws: Stop.self) {
      try partial.readPage { if $0.code == "b5" { throw Stop() } }
    }
    #expect(throws: StoreError.self) {
      _ = try HistoryReader(connection: foreign, continuing: partial)
    }
  }
}
