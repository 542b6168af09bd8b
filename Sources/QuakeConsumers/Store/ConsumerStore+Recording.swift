internal import Basics
package import Postgres
package import QuakeModel

extension ConsumerStore {
  /// What a page of the history, or the passing of time, has brought.
  package struct Page: Sendable {
    /// Each message once, however many consumers owe it.
    package var messages: [Message] = []
    /// Who owes which of them, by its index.
    package var owed: [(consumer: String, message: Int)] = []
    package var conversations: [(consumer: String, conversation: Conversation)] = []
    /// How they were before.
    package var past: [(consumer: String, past: PastConversation)] = []
    /// The cursors of the consumers with anything to write.
    package var cursors: [(consumer: String, cursor: HistoryCursor)] = []
    /// How many messages the limits of rates have dropped, in all.
    package var heldBack: [(consumer: String, total: Int64)] = []

    package init() {}

    /// Whether there is nothing to write.
    package var isEmpty: Bool {
      owed.isEmpty && conversations.isEmpty && cursors.isEmpty && heldBack.isEmpty
    }

    /// Adds what the book of a consumer has not stored yet.
    ///
    /// - Returns: Whether that is anything.
    package mutating func add(_ unstored: ConversationBook.Unstored, of consumer: String) -> Bool {
      conversations += unstored.changed.map { (consumer, $0) }
      past += unstored.past.map { (consumer, $0) }
      return !unstored.changed.isEmpty
    }
  }

  /// The consumers that this process has lost: to another process, or because they were rewound or removed.
  package struct LostConsumers: Error {
    package let names: Set<String>
  }

  /// Writes a page in one transaction. If it is not known whether it was committed, call it again.
  ///
  /// - Returns: The number of each message in `owed`; nil if the consumer had parked a message of this id.
  /// - Throws: `LostConsumers`, and nothing is written.
  package func record(_ page: Page, over connection: Connection) throws -> [Int64?] {
    guard !page.isEmpty else { return [] }
    return try connection.transaction {
      try move(page.cursors, over: connection)
      try writeConversations(of: page, over: connection)
      if !page.heldBack.isEmpty {
        try connection.execute(
          """
          update quake.consumer c set held_back = h.total
            from unnest(\(page.heldBack.map(\.consumer))::text[],
                        \(page.heldBack.map(\.total))::bigint[]) h (name, total)
           where c.name = h.name
          """)
      }
      return try insert(page, over: connection)
    }
  }

  private struct Key: Hashable {
    let consumer: String
    let id: String
  }

  /// How many messages, or events of conversations, one statement gets about. The server may join two lists by reading
  /// one again for each row of the other.
  static let portion = 200

  private func insert(_ page: Page, over connection: Connection) throws -> [Int64?] {
    guard !page.owed.isEmpty else { return [] }
    var numbers: [Key: Int64] = [:]
    var rest = page.owed[...]
    while !rest.isEmpty {
      try insert(rest.prefix(Self.portion), of: page.messages, into: &numbers, over: connection)
      rest = rest.dropFirst(Self.portion)
    }
    if numbers.count < page.owed.count { try addKnown(page, to: &numbers, over: connection) }
    return page.owed.map { owed in
      numbers[Key(consumer: owed.consumer, id: page.messages[owed.message].id)]
    }
  }

  private func insert(
    _ owed: ArraySlice<(consumer: String, message: Int)>, of all: [Message],
    into numbers: inout [Key: Int64], over connection: Connection
  ) throws {
    let first = owed.map(\.message).min() ?? 0
    let last = owed.map(\.message).max() ?? 0
    let messages = all[first...last]
    let inserted = try connection.rows(
      """
      with made as (
        insert into quake.delivery (consumer, id, subject, kind, token, variables, data)
        select o.consumer, m.id, m.subject, m.kind, m.token, m.variables, m.data
          from unnest(\(owed.map(\.consumer))::text[],
                      \(owed.map { Int64($0.message - first) })::bigint[])
                 with ordinality o (consumer, message, n)
          join unnest(\(messages.map(\.id))::text[], \(messages.map(\.subject))::text[],
                      \(messages.map(\.kind.rawValue))::text[],
                      \(messages.map { "\($0.token)" })::text[],
                      \(messages.map { Self.text(of: $0.variables) })::text[],
                      \(messages.map(\.data))::text[])
                 with ordinality m (id, subject, kind, token, variables, data, n)
            on m.n = o.message + 1
         order by o.n
        on conflict (consumer, id) do nothing
        returning consumer, id, number)
      select consumer, id, number from made
      """, format: .binary, as: (String, String, Int64).self)
    for (consumer, id, number) in inserted { numbers[Key(consumer: consumer, id: id)] = number }
  }

  /// After a rewind, and if this is the second attempt to write the page, messages are there already.
  private func addKnown(
    _ page: Page, to numbers: inout [Key: Int64], over connection: Connection
  ) throws {
    let missing = page.owed.map { Key(consumer: $0.consumer, id: page.messages[$0.message].id) }
      .filter { numbers[$0] == nil }
    let known = try connection.rows(
      """
      select d.consumer, d.id, d.number
        from unnest(\(missing.map(\.consumer))::text[], \(missing.map(\.id))::text[]) m (consumer, id)
        join quake.delivery d on d.consumer = m.consumer and d.id = m.id
       where d.parked_at is null
      """, format: .binary, as: (String, String, Int64).self)
    for (consumer, id, number) in known { numbers[Key(consumer: consumer, id: id)] = number }
  }

  private func move(
    _ cursors: [(consumer: String, cursor: HistoryCursor)], over connection: Connection
  ) throws {
    guard !cursors.isEmpty else { return }
    let moved = try connection.rows(
      """
      update quake.watcher w
         set token = c.token, nonce = c.nonce, changes = c.changes, moved_at = now(), seen_at = now()
        from unnest(\(cursors.map(\.consumer))::text[], \(cursors.map(\.cursor.token.number))::bigint[],
                    \(cursors.map(\.cursor.token.nonceText))::text[],
                    \(cursors.map(\.cursor.changes))::bigint[]) c (name, token, nonce, changes)
       where w.name = c.name and split_part(w.holder, ':', 1) = \(holder)
      returning w.name
      """, as: String.self)
    guard moved.count < cursors.count else { return }
    throw LostConsumers(names: Set(cursors.map(\.consumer)).subtracting(moved))
  }

  /// Moves the cursors of consumers that had nothing to write, and records that this process is alive.
  ///
  /// A crash of the server may undo it.
  ///
  /// - Throws: `LostConsumers`, and nothing is written.
  package func moveIdle(
    _ cursors: [(consumer: String, cursor: HistoryCursor)], over connection: Connection
  ) throws {
    guard !cursors.isEmpty else { return }
    try connection.transaction {
      try connection.execute("set local synchronous_commit = off")
      try move(cursors, over: connection)
    }
  }

  // MARK: - Outcomes

  package struct Outcome: Hashable, Sendable {
    package enum Result: Hashable, Sendable {
      /// The receiver has taken the message.
      case delivered
      /// It is tried again after a pause; this is the number of attempts that have failed, and for how long it was
      /// tried.
      case failed(reason: String, attempts: Int, pause: Duration, tried: Duration)
      /// It is not tried again.
      case parked(reason: String, attempts: Int)
    }

    package var consumer: String
    package var number: Int64
    package var result: Result

    package init(consumer: String, number: Int64, result: Result) {
      self.consumer = consumer
      self.number = number
      self.result = result
    }
  }

  /// Writes outcomes in one transaction. If it is not known whether it was committed, call it again.
  ///
  /// - Returns: The transactions that the delivered messages told of.
  @discardableResult
  package func record(
    _ outcomes: [Outcome], over connection: Connection
  ) throws -> [ChangeToken] {
    var delivered: [(consumer: String, number: Int64)] = []
    var failed: [Failed] = []
    for outcome in outcomes {
      let (consumer, number) = (outcome.consumer, outcome.number)
      switch outcome.result {
      case .delivered: delivered.append((consumer, number))
      case .failed(let reason, let attempts, let pause, let tried):
        failed.append(
          Failed(
            consumer: consumer, number: number, attempts: attempts, reason: reason, pause: pause,
            tried: tried))
      case .parked(let reason, let attempts):
        failed.append(
          Failed(
            consumer: consumer, number: number, attempts: attempts, reason: reason, pause: nil,
            tried: .zero))
      }
    }
    switch (delivered.isEmpty, failed.isEmpty) {
    case (true, true): return []
    case (false, true): return try remove(delivered, over: connection)
    case (true, false):
      try note(failed, over: connection)
      return []
    case (false, false):
      return try connection.transaction {
        try note(failed, over: connection)
        return try remove(delivered, over: connection)
      }
    }
  }

  private struct Failed {
    let consumer: String
    let number: Int64
    let attempts: Int
    let reason: String
    /// nil: it is parked.
    let pause: Duration?
    let tried: Duration
  }

  private func remove(
    _ delivered: [(consumer: String, number: Int64)], over connection: Connection
  ) throws -> [ChangeToken] {
    try connection.rows(
      """
      with gone as (
        delete from quake.delivery d
         using unnest(\(delivered.map(\.consumer))::text[], \(delivered.map(\.number))::bigint[])
                 o (consumer, number)
         where d.consumer = o.consumer and d.number = o.number
        returning d.consumer, d.token),
      counted as (\(sql: Self.countGone))
      select distinct token from gone
      """, prepared: true, as: ChangeToken.self)
  }

  /// Counts the delivered messages of a list `gone (consumer)`.
  static let countGone: SQL = """
    update quake.consumer c
       set delivered = c.delivered + d.count, delivered_at = clock_timestamp(),
           rate = d.count + c.rate
             * exp(- greatest(0, least(500, extract(epoch from clock_timestamp() - c.delivered_at)::float8 / 3600)))
      from (select consumer, count(*) as count from gone group by consumer) d where c.name = d.consumer
    """

  private func note(_ failed: [Failed], over connection: Connection) throws {
    try connection.executePrepared(
      """
      with failed as (
        select * from unnest(
          \(failed.map(\.consumer))::text[], \(failed.map(\.number))::bigint[],
          \(failed.map { Int64($0.attempts) })::bigint[], \(failed.map { Self.cut($0.reason) })::text[],
          \(failed.map { $0.pause?.wholeMicroseconds })::bigint[],
          \(failed.map { $0.tried.wholeMicroseconds })::bigint[]
        ) with ordinality f (consumer, number, attempts, reason, pause, tried, n)),
      noted as (
        update quake.delivery d
           set attempts = f.attempts, reason = f.reason,
               due_at = clock_timestamp() + f.pause * interval '1 microsecond',
               tried_for = f.tried * interval '1 microsecond',
               parked_at = case when f.pause is null then clock_timestamp() end
          from failed f where d.consumer = f.consumer and d.number = f.number)
      update quake.consumer c set failed_at = clock_timestamp(), error = f.reason
        from (select distinct on (consumer) consumer, reason from failed order by consumer, n desc) f
       where c.name = f.consumer
      """)
  }

  /// Notes why consumers cannot continue.
  package func note(
    _ error: String, of names: [String], over connection: Connection
  ) throws(PostgresError) {
    try connection.execute(
      """
      update quake.consumer set failed_at = clock_timestamp(), error = \(Self.cut(error))
       where name = any (\(names)::text[])
      """)
  }
}
