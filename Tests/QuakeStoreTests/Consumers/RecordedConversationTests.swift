import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeQuery
import TestSupport
import Testing

/// Conversations about a history as the database records it.
@Suite struct RecordedConversationTests {
  /// Looks at the history; no conversation is closed.
  private struct History: ConversationSource {
    let recorded: RecordedEvents

    func events(_ codes: [EventCode], after token: ChangeToken) throws -> [EventCode: EventRecord] {
      try recorded.events(codes, after: token)
    }

    func closedConversations(of codes: [EventCode]) -> [Conversation] { [] }
  }

  /// What a book tells of the whole history.
  private func alerts(
    _ database: TestDatabase, _ change: (inout AlertRule) -> Void = { _ in }
  ) throws -> [String] {
    var rule = AlertRule()
    rule.filter.minimumMagnitude = 3.5
    rule.closesAfter = .seconds(10_000 * 86_400)
    change(&rule)
    var book = ConversationBook(
      rule: rule, conversations: [], after: HistoryCursor(token: .beginning),
      source: History(recorded: RecordedEvents(connection: try database.connect())))
    var reader = try HistoryReader(
      connection: try database.connect(), after: ChangeToken.beginning)
    var lines: [String] = []
    var isAtEnd = false
    while !isAtEnd {
      isAtEnd = try reader.readPage { change in
        book.take(change)
        guard change.position + 1 == change.transaction.changeCount else { return }
        lines += try book.end(of: change.transaction).map {
          "\($0.kind) \($0.event?.code ?? "-")\($0.mergedInto == nil ? "" : " merged")"
        }
      }
    }
    return lines + (try book.advance(to: .now()).map { "\($0.kind) \($0.event?.code ?? "-")" })
  }

  @Test func anAssociationIsOneConversation() throws {
    let world = try AssociationWorld()
    try world.store([
      .init(code: "emsc1", source: "emsc", seconds: 2, latitude: 10.1, longitude: 20)
    ])
    try world.associations.update()
    try world.store([.init(code: "us1", source: "usgs", seconds: 0, latitude: 10, longitude: 20)])
    try world.associations.update()
    #expect(
      try alerts(world.database) == [
        "opened emsc1", "opened us1", "updated us1", "retracted us1 merged",
      ])
    #expect(
      try alerts(world.database) { $0.settle = .seconds(600) }.isEmpty,
      "it waits until then")
    // The preferred one goes; after it the other is shown.
    try world.connection.run("delete from quake.quake where code = 'us1'")
    try world.associations.update()
    #expect(
      try alerts(world.database).suffix(2) == ["retracted -", "updated emsc1"])
    try world.associations.dissolveAll()
    #expect(try alerts(world.database).count == 6)
  }

  @Test(arguments: Seeds.first(1, of: 1...20))
  func recordedEventsAreThoseOfTheirTime(seed: UInt64) throws {
    let database = try TestDatabase()
    let connection = try database.connect()
    var generator = SeededGenerator(seed)
    try RandomHistory(connection).write(25, using: &generator)
    let events = RecordedEvents(connection: connection)
    let tokens = try database.tokens()
    for text in ["0"] + tokens {
      let token = try #require(ChangeToken(text))
      let expected = Set(
        try connection.table(
          "select code || coalesce(' ' || magnitude, '') || coalesce(' ' || superseded_by, '') from quake.as_of('\(text)')"
        ))
      var found: Set<String> = []
      let codes = (RandomHistory.codes + (1...40).map { "many\($0)" }).map { EventCode($0) }
      for (code, event) in try events.events(codes, after: token) {
        found.insert(
          code.text + (event.magnitude.map { " \($0.description.replacingSuffix)" } ?? "")
            + (event.supersededBy.map { " \($0)" } ?? ""))
      }
      #expect(found == expected, "\(text)")
    }
  }
}

extension String {
  /// A number as PostgreSQL writes it.
  fileprivate var replacingSuffix: String { hasSuffix(".0") ? String(dropLast(2)) : self }
}
