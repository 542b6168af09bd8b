import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory

@Suite final class HistoryQueryTests: DatabaseSuite {
  private struct Stop: Error {}

  /// The whole history, as the reader that follows it gives it.
  private func history() throws -> [Change] {
    var reader = try HistoryReader(connection: connection, after: .beginning)
    var changes: [Change] = []
    while try !reader.readPage({ changes.append($0) }) {}
    return changes
  }

  private func changes(
    _ request: HistoryQuery, limits: HistoryPage.Limits = .init()
  ) throws -> [Change] {
    var reader = try HistoryQueryReader(request, over: connection, limits: limits)
    var changes: [Change] = []
    while try !reader.readPage({ changes.append($0) }) {}
    #expect(try reader.readPage { _ in Issue.record("there is nothing after the end") })
    return changes
  }

  // MARK: Everything at once

  /// Another way to the same: the program judges every change of the history.
  private struct Question {
    var request = HistoryQuery()
    var expected: [Change]

    init(about history: [Change], using generator: inout SeededGenerator) {
      let tokens = history.reduce(into: [ChangeToken.beginning]) {
        if $0.last != $1.transaction.token { $0.append($1.transaction.token) }
      }
      let bounds = (0..<2).map { _ in Int.random(in: 0..<tokens.count, using: &generator) }.sorted()
      expected = history
      if Bool.random(using: &generator) {
        request.after = .token(tokens[bounds[0]])
        expected.removeAll { $0.transaction.token.number <= tokens[bounds[0]].number }
      }
      if Bool.random(using: &generator) {
        request.upTo = .number(tokens[bounds[1]].number)
        expected.removeAll { $0.transaction.token.number > tokens[bounds[1]].number }
      }
      request.filter = RandomHistory.filter(using: &generator)
      expected.removeAll { [request] in !request.filter.accepts($0) }
      if Bool.random(using: &generator) {
        request.order = .descending
        expected.reverse()
      }
      if Int.random(in: 0..<3, using: &generator) == 0 {
        let limit = Int.random(in: 1...20, using: &generator)
        request.limit = Int64(limit)
        expected = Array(expected.prefix(limit))
      }
    }
  }

  @Test(arguments: Seeds.first(1, of: 1...3))
  func aHistoryQueryAgreesWithTheFilterInTheProgram(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    try RandomHistory(connection).write(80, using: &generator)
    let history = try history()
    var found = 0
    for round in 0..<60 {
      let question = Question(about: history, using: &generator)
      let limits = HistoryPage.Limits(
        rows: .random(in: 1...60, using: &generator),
        scanned: .random(in: 1...200, using: &generator),
        codes: Bool.random(using: &generator) ? 0 : 50)
      let actual = try changes(question.request, limits: limits)
      #expect(
        actual.map(\.text) == question.expected.map(\.text),
        "\(round): \(question.request), \(limits)")
      #expect(try question.request.count(over: connection) == question.expected.count)
      found += actual.count
    }
    #expect(found > 300, "the filters let nearly nothing through")
  }

  @Test func aHistoryQueryIsTheSameInPages() throws {
    var generator = SeededGenerator(7)
    try RandomHistory(connection).write(80, using: &generator)
    let history = try history()
    var pages = 0
    for round in 0..<40 {
      var question = Question(about: history, using: &generator)
      question.request.limit = nil
      let whole = try changes(question.request).map(\.text)
      let limits = HistoryPage.Limits(
        rows: .random(in: 1...20, using: &generator),
        scanned: .random(in: 1...200, using: &generator),
        codes: Bool.random(using: &generator) ? 0 : 50)
      question.request.limit = .random(in: 1...9, using: &generator)
      var parts: [String] = []
      while true {
        let page = try changes(question.request, limits: limits)
        parts += page.map(\.text)
        guard let last = page.last else { break }
        pages += 1
        let position = try #require(ChangePosition("\(ChangePosition(of: last))"))
        question.request.afterChange = position
      }
      #expect(parts == whole, "\(round): \(question.request), \(limits)")
    }
    #expect(pages > 200)
  }

  @Test func aHistoryQueryDoesNotBeginAfterAMissingChange() throws {
    try connection.insertMany("x", 3)
    let change = try #require(try history().last)
    var request = HistoryQuery()
    let position = try #require(ChangePosition("\(change.transaction.token):3") as ChangePosition?)
    request.afterChange = position
    #expect(throws: StoreError.self) { try changes(request) }
    for text in ["", "0:0", "1.0123abcd", "1.0123abcd:", "1.0123abcd:-1", "1.0123abcd:01", "x:1"] {
      #expect(ChangePosition(text) == nil, "\(text)")
    }
  }

  @Test(arguments: Seeds.first(1, of: 1...2))
  func aHistoryQueryGetsTheCodesOfTheEventsOnce(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    try RandomHistory(connection).write(60, using: &generator)
    let history = try history()
    for round in 0..<30 {
      var question = Question(about: history, using: &generator)
      question.request.limit = nil
      let all = question.request
      var codes: [String] = []
      try all.codes(over: connection) { codes.append($0) }
      let bytes = codes.map { Array($0.utf8) }
      #expect(
        bytes
          == bytes.sorted {
            all.order == .ascending
              ? $0.lexicographicallyPrecedes($1) : $1.lexicographicallyPrecedes($0)
          })
      #expect(Set(codes).count == codes.count)
      #expect(Set(codes) == Set(try changes(all).compactMap(\.code)), "\(round): \(all)")
      question.request.limit = 3
      var first: [String] = []
      try question.request.codes(over: connection) { first.append($0) }
      #expect(first == Array(codes.prefix(3)))
    }
  }

  @Test(arguments: Seeds.first(1, of: 1...2))
  func aHistoryQueryGetsTransactionsWithTheirMatchingChanges(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    try RandomHistory(connection).write(60, using: &generator)
    let history = try history()
    for round in 0..<30 {
      var request = Question(about: history, using: &generator).request
      request.limit = nil
      var expected: [String] = []
      var last: ChangeToken?
      var count: Int64 = 0
      let limit = Int64.random(in: 1...20, using: &generator)
      for change in try changes(request) {
        if change.transaction.token != last {
          if let last { expected.append("end \(last)") }
          last = nil
          if count == limit { break }
          count += 1
          last = change.transaction.token
          expected.append("begin \(change.transaction.token)")
        }
        expected.append(change.text)
      }
      if let last { expected.append("end \(last)") }
      request.limit = limit
      var reader = try HistoryTransactionReader(request, over: connection)
      var parts: [String] = []
      while try !reader.readPage({ part in
        switch part {
        case .begin(let transaction): parts.append("begin \(transaction.token)")
        case .change(let change): parts.append(change.text)
        case .end(let transaction): parts.append("end \(transaction.token)")
        }
      }) {}
      #expect(parts == expected, "\(round): \(request)")
    }
  }

  // MARK: One by one

  private func codes(_ request: HistoryQuery) throws -> [String?] {
    try changes(request).map(\.code)
  }

  private func problem(_ request: HistoryQuery) throws -> StoreError.TokenProblem {
    let error = try #require(throws: StoreError.self) { _ = try changes(request) }
    guard case .token(let problem) = error.kind else { throw error }
    let count = try #require(throws: StoreError.self) { _ = try request.count(over: connection) }
    #expect(count.kind == error.kind)
    return problem
  }

  @Test func aHistoryQueryIsBoundedByTimesOfCommit() throws {
    try connection.insertQuakes("a", "b", "c", "d")
    // Minutes apart, as a clock would have them.
    try connection.run(
      """
      update quake.change_transaction
         set at = '2024-01-01T00:00:00Z'::timestamptz + token * interval '1 minute'
      """)
    func time(_ text: String) throws -> HistoryBound {
      .time(try #require(Timestamp(iso8601: text)))
    }
    var request = HistoryQuery()
    request.after = try time("2024-01-01T00:02:00Z")
    #expect(try codes(request) == ["c", "d"])
    request.after = try time("2024-01-01T00:01:59.999999Z")
    #expect(try codes(request) == ["b", "c", "d"])
    request.upTo = try time("2024-01-01T00:03:59Z")
    #expect(try codes(request) == ["b", "c"])
    request.after = try time("1950-01-01T00:00:00Z")
    #expect(try codes(request) == ["a", "b", "c"])
    request.after = try time("2024-01-02T00:00:00Z")
    request.upTo = nil
    #expect(try codes(request) == [])
  }

  @Test func aHistoryQueryTakesOneTransactionAlone() throws {
    try connection.insertQuakes("a", "b", "c")
    let all = try changes(HistoryQuery())
    for change in all {
      var request = HistoryQuery()
      request.transaction = change.transaction.token
      #expect(try codes(request) == [change.code])
      #expect(try request.count(over: connection) == 1)
    }
    var request = HistoryQuery()
    request.transaction = ChangeToken("2.00000000")
    #expect(try problem(request) == .diverged)
  }

  @Test func aHistoryQueryTellsWhatIsWrongWithAPlace() throws {
    try connection.insertQuakes("a", "b")
    try connection.run("select nextval('quake.token')")
    try connection.insertQuakes("c")
    for (bound, expected) in [
      (HistoryBound.token(try #require(ChangeToken("9.00000000"))), StoreError.TokenProblem.future),
      (.token(try #require(ChangeToken("1.00000000"))), .diverged), (.number(9), .future),
      (.number(3), .diverged),
    ] {
      var request = HistoryQuery()
      request.after = bound
      #expect(try problem(request) == expected, "\(bound)")
      request.after = nil
      request.upTo = bound
      #expect(try problem(request) == expected, "\(bound)")
    }
  }

  @Test func aHistoryQueryDoesNotSeeLaterCommits() throws {
    try connection.insertMany("a", 30)
    for order in [HistoryQuery.Order.ascending, .descending] {
      var request = HistoryQuery()
      request.order = order
      let expected = try changes(request).count
      var reader = try HistoryQueryReader(
        request, over: connection, limits: .init(rows: 7, scanned: 11))
      let writer = try database.connect()
      var count = 0
      while try !reader.readPage({ _ in
        count += 1
        if count % 10 == 1 { try writer.run("update quake.quake set felt = coalesce(felt, 0) + 1") }
      }) {}
      #expect(count == expected)
    }
  }

  @Test(arguments: [0, 50])
  func aHistoryQueryBeginsAgainWithTheRefusedChange(codes: Int) throws {
    try connection.insertMany("a", 20)
    try connection.run("update quake.quake set felt = 1", "delete from quake.quake")
    let expected = try changes(HistoryQuery()).map(\.text)
    for order in [HistoryQuery.Order.ascending, .descending] {
      var request = HistoryQuery()
      request.order = order
      request.filter.codes = Set((1...20).map { "a\($0)" })
      var reader = try HistoryQueryReader(
        request, over: connection, limits: .init(rows: 9, scanned: 13, codes: codes))
      var texts: [String] = []
      var refuses = false
      var isAtEnd = false
      while !isAtEnd {
        do {
          isAtEnd = try reader.readPage { change in
            refuses.toggle()
            if refuses { throw Stop() }
            texts.append(change.text)
          }
        } catch is Stop {}
      }
      #expect(texts == (order == .ascending ? expected : expected.reversed()))
    }
  }

  @Test func aHistoryQueryHoldsNoTransactionBetweenPages() throws {
    try connection.insertMany("a", 50)
    let reading = try database.connect(applicationName: "reading")
    var reader = try HistoryQueryReader(
      HistoryQuery(), over: reading, limits: .init(rows: 10, scanned: 100))
    #expect(try !reader.readPage { _ in })
    // The next page is being sent, or has been.
    #expect(
      try connection.eventually(
        """
        exists (select from pg_stat_activity
                 where application_name = 'reading' and state = 'idle' and backend_xmin is null)
        """))
  }

  // MARK: Purged history

  @Test func aHistoryQueryEndsAtTheFloorAndIsToldOfAPurge() throws {
    try connection.insertQuakes("a", "b", "c")
    try connection.insertMany("d", 30)
    try connection.run("update quake.quake set felt = 1")
    let history = try changes(HistoryQuery())
    let tokens = history.reduce(into: [ChangeToken]()) {
      if $0.last != $1.transaction.token { $0.append($1.transaction.token) }
    }
    func reader(_ change: (inout HistoryQuery) -> Void) throws -> HistoryQueryReader {
      var request = HistoryQuery()
      change(&request)
      return try HistoryQueryReader(
        request, over: connection, limits: .init(rows: 5, scanned: 10))
    }
    var behind = try reader { _ in }
    var throughCodes = try reader { $0.filter.codes = ["a", "b", "c", "d1", "d2", "d3"] }
    var downwards = try reader { $0.order = .descending }
    var downTo = try reader {
      $0.order = .descending
      $0.after = .token(tokens[0])
    }
    #expect(try !behind.readPage { _ in })
    #expect(try !throughCodes.readPage { _ in })
    #expect(try !downwards.readPage { _ in })
    #expect(try !downTo.readPage { _ in })
    _ = try Retention(connection: try database.connect()).purge(before: .token(tokens[3]))
    func readToEnd(_ reader: inout HistoryQueryReader) throws -> [String?] {
      var codes: [String?] = []
      while try !reader.readPage({ codes.append($0.code) }) {}
      return codes
    }
    func isExpired(_ reader: inout HistoryQueryReader) throws -> Bool {
      do {
        _ = try readToEnd(&reader)
        return false
      } catch let error as StoreError {
        return error.kind == .token(.expired)
      }
    }
    #expect(try isExpired(&behind))
    #expect(try isExpired(&throughCodes))
    #expect(try isExpired(&downTo))
    #expect(try readToEnd(&downwards).count == 28, "what is left of the newest transaction")

    var request = HistoryQuery()
    #expect(try changes(request).map(\.text) == history.suffix(33).map(\.text))
    request.filter.codes = ["a"]
    #expect(try codes(request) == ["a"])
    #expect(try request.count(over: connection) == 1)
    request.after = .token(tokens[2])
    #expect(try problem(request) == .expired)
    request.after = .number(0)
    #expect(try problem(request) == .expired)
    request.after = .token(tokens[3])
    #expect(try codes(request) == ["a"])
    request.after = nil
    request.transaction = tokens[3]
    #expect(try problem(request) == .expired, "its changes are not all there")
  }
}
