import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeQuery
import TestSupport
import Testing

/// Conversations as consumers store them.
@Suite final class StoredConversationTests: DatabaseSuite {
  private let store = ConsumerStore()

  private static func rule(_ change: (inout AlertRule) -> Void = { _ in }) -> AlertRule {
    var rule = AlertRule()
    rule.filter.minimumMagnitude = 3.5
    rule.closesAfter = .seconds(10_000 * 86_400)
    change(&rule)
    return rule
  }

  private static let duty = ConsumerStore.Description(name: "duty", sink: "none", isAlert: true)

  private func begin() throws {
    _ = try store.begin([Self.duty], at: HistoryCursor(token: .beginning), over: connection)
  }

  /// Decides about what the consumer has not seen, as a process does that has just begun.
  ///
  /// - Returns: The ids of the messages.
  @discardableResult
  private func decide(_ rule: AlertRule, until time: Timestamp? = nil) throws -> [String] {
    let (states, _) = try store.take(.all, of: [Self.duty], over: connection)
    let state = try #require(states["duty"])
    var book = try store.book(rule, of: "duty", after: state.cursor, over: connection)
    var reader = try HistoryReader(connection: try database.connect(), after: state.cursor)
    var ids: [String] = []
    func record(_ alerts: [Alert]) throws {
      let (changed, past) = book.takeUnstored()
      var page = ConsumerStore.Page()
      page.messages = alerts.map { Message($0) }
      page.owed = alerts.indices.map { ("duty", $0) }
      page.conversations = changed.map { ("duty", $0) }
      page.past = past.map { ("duty", $0) }
      page.cursors = [("duty", book.cursor)]
      _ = try store.record(page, over: connection)
      ids += alerts.map(\.id)
    }
    var isAtEnd = false
    while !isAtEnd {
      var alerts: [Alert] = []
      isAtEnd = try reader.readPage { change in
        book.take(change)
        guard change.position + 1 == change.transaction.changeCount else { return }
        alerts += try book.end(of: change.transaction)
      }
      try record(alerts)
    }
    if let time { try record(try book.advance(to: time)) }
    return ids
  }

  /// Everything that is known of the conversations.
  private func rows() throws -> [String] {
    try connection.table(
      """
      select c, array(select e.code from quake.conversation_event e
                       where e.consumer = c.consumer and e.conversation = c.id order by 1)
        from quake.conversation c order by c.id
      """) + connection.table("select * from quake.conversation_past order by 1, 2, 3")
      + connection.table("select id, data from quake.delivery order by number")
  }

  @Test(arguments: Seeds.first(2, of: 1...50))
  func aRewindGivesTheSameConversationsAndMessagesAgain(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    try RandomHistory(connection).write(25, using: &generator)
    let tokens = try database.tokens()
    try begin()
    try decide(Self.rule())
    let before = try rows()
    #expect(before.count > 10)
    for text in ["0"] + tokens.shuffled(using: &generator).prefix(8) {
      let token = try #require(ChangeToken(text))
      _ = try connection.transaction {
        try ConsumerControl.rewind("duty", to: token, over: connection)
      }
      #expect(
        try connection.ask(
          """
          select count(*) from quake.conversation_past p, quake.watcher w
           where p.token > w.token or split_part(p.conversation, '.', 1)::int8 > w.token
          """) == "0")
      try decide(Self.rule())
      #expect(try rows() == before, "after a rewind to \(text)")
    }
  }

  @Test func codesThatOnlyLookAlikeStayApart() throws {
    try begin()
    try connection.run(
      """
      insert into quake.quake (code, time, magnitude)
      select code, now(), 5 from unnest(array[e'a\\nb', 'a', 'b', e'caf\\u00e9', e'cafe\\u0301']) code
      """)
    #expect(try decide(Self.rule()).count == 5)
    try connection.run(
      """
      delete from quake.quake where code in (e'a\\nb', e'cafe\\u0301')
      """)
    #expect(try decide(Self.rule()).count == 2)
    #expect(
      try connection.table(
        "select to_json(code) from quake.conversation where state = 'retracted' order by code")
        == ["\"a\\nb\"", "\"cafe\u{301}\""])
  }

  @Test func aConversationIsDeletedAYearAfterItsEnd() throws {
    let rule = Self.rule { $0.closesAfter = .seconds(60) }
    let later = Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000)
    try begin()
    try connection.run(
      "insert into quake.quake (code, time, magnitude) values ('a', now(), 5), ('b', now(), 6)")
    try decide(rule, until: later)
    #expect(try connection.table("select state from quake.conversation") == ["closed", "closed"])
    // The times of one are a year ago.
    try connection.run(
      "update quake.conversation set due_at = due_at - interval '366 days' where code = 'a'")
    try connection.run("insert into quake.quake (code, time, magnitude) values ('c', now(), 5)")
    try decide(rule, until: later)
    #expect(try connection.table("select code from quake.conversation order by 1") == ["b", "c"])
    #expect(
      try connection.table("select code from quake.conversation_event order by 1") == ["b", "c"])
  }

  @Test func thousandsOfEarthquakesInATransactionAreStored() throws {
    // So many that a statement whose time grows with their square would take minutes.
    let count = Tools.isSoak ? 20_000 : 3000
    try connection.run("set statement_timeout = '60s'")
    try begin()
    try connection.run(
      """
      insert into quake.quake (code, time, magnitude)
      select 'us' || n, now(), 5 from generate_series(1, \(count)) n
      """)
    #expect(try decide(Self.rule()).count == count)
    try connection.run("truncate quake.quake")
    #expect(try decide(Self.rule()).count == count)
    #expect(
      try connection.ask("select count(*) from quake.conversation where state = 'retracted'")
        == "\(count)")
  }

  @Test func aConsumerIsFreeWhenTheConnectionOfItsProcessHasEnded() throws {
    try begin()
    func held() throws -> Set<String> {
      try store.take(.free, of: [Self.duty], over: connection).held
    }
    try withExtendedLifetime(database.connect()) { other in
      _ = try ConsumerStore().take(.all, of: [Self.duty], over: other)
      #expect(try held() == ["duty"])
      #expect(try store.take(.own, of: [Self.duty], over: connection).states.isEmpty)
    }
    try eventually("the consumer is free") { try held().isEmpty }
    #expect(try store.take(.own, of: [Self.duty], over: connection).states.count == 1)
  }

  @Test func theClockIsThatOfTheDatabase() throws {
    // As if this machine's clock were a month late.
    try connection.run(
      "create schema ahead",
      """
      create function ahead.clock_timestamp() returns timestamptz
      return pg_catalog.clock_timestamp() + interval '30 days'
      """, "set search_path = ahead, pg_catalog")
    var clock = DatabaseClock()
    for _ in 1...2 {
      let ahead = try clock.now(over: connection).microseconds - Timestamp.now().microseconds
      #expect(ahead > 29 * 86_400_000_000)
    }
  }
}
