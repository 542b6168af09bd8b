internal import Basics
package import Postgres
internal import QuakeHistory
package import QuakeModel

/// The consumers of one process in the database: their cursors, and what they owe.
///
/// One process at a time has a consumer: the last that took it. It writes a page of messages with the cursors in one
/// transaction, so that each message is made once.
package struct ConsumerStore: Sendable {
  /// Tells this process from others (`quake.watcher.holder`).
  package let holder: String

  /// Runs no statement yet.
  package init() {
    holder = String(UInt64.random(in: .min ... .max), radix: 16)
  }

  /// For a consumer that was taken with this holder.
  package init(holder: String) { self.holder = holder }
}

extension ConsumerStore {
  /// A consumer as its configuration has it.
  package struct Description: Hashable, Sendable {
    /// 1 to 200 characters.
    package var name: String
    /// What it delivers to, for people, without secrets.
    package var sink: String
    /// Whether it tells of earthquakes and not of changes.
    package var isAlert: Bool

    package init(name: String, sink: String, isAlert: Bool) {
      self.name = name
      self.sink = sink
      self.isAlert = isAlert
    }
  }

  /// A consumer as the database has it.
  package struct State: Hashable, Sendable {
    /// Up to where the history has become messages.
    package var cursor: HistoryCursor
    /// Whether somebody has paused it.
    package var isPaused: Bool
    /// When somebody last changed it by hand.
    package var changedAt: Timestamp
    /// How many messages the limit of its rate has dropped so far.
    package var heldBack: Int64
    /// How many of its messages are parked.
    package var parked: Int64
  }

  /// A message that is owed, without its contents.
  package struct Owed: Hashable, Sendable {
    /// `quake.delivery.number`: the order in which the messages were made.
    package var number: Int64
    /// Messages with the same subject are delivered in order.
    package var subject: String
    /// How many attempts have failed.
    package var attempts: Int
    /// How long until the next attempt; zero or less: at once.
    package var delay: Duration
    /// How long ago it was made.
    package var age: Duration

    package init(
      number: Int64, subject: String, attempts: Int = 0, delay: Duration = .zero,
      age: Duration = .zero
    ) {
      self.number = number
      self.subject = subject
      self.attempts = attempts
      self.delay = delay
      self.age = age
    }
  }

  /// Makes consumers known that have a configuration, and takes those over that have a cursor, from any process that has
  /// them.
  ///
  /// - Parameter descriptions: Their names are all different.
  /// - Returns: By name, those that have a cursor. The others begin with `begin(_:at:)`.
  package func take(
    _ descriptions: [Description], over connection: Connection
  ) throws -> [String: State] {
    try connection.transaction {
      let taken = try connection.rows(
        """
        update quake.watcher
           set holder = \(holder), seen_at = now(), role = coalesce(role, current_user)
         where name = any (\(descriptions.map(\.name))::text[])
        returning name
        """, as: String.self)
      let known = Set(taken)
      try describe(descriptions.filter { known.contains($0.name) }, over: connection)
      return try states(of: taken, over: connection)
    }
  }

  /// Creates consumers that have no cursor yet.
  ///
  /// - Throws: `StoreError` of kind `replaced` if another process was quicker, `PostgresError` with SQLSTATE 42501 if a
  ///   name is another role's.
  package func begin(
    _ descriptions: [Description], at cursor: HistoryCursor, over connection: Connection
  ) throws -> [String: State] {
    try connection.transaction {
      let names = descriptions.map(\.name)
      let made = try connection.execute(
        """
        insert into quake.watcher (name, holder, token, nonce, changes)
        select n, \(holder), \(cursor.token.number), \(Self.nonce(of: cursor)), \(cursor.changes)
          from unnest(\(names)::text[]) n
        on conflict (name) do nothing
        """
      ).affectedRows
      guard made == names.count else { throw try taken(among: names, over: connection) }
      try describe(descriptions, over: connection)
      return try states(of: names, over: connection)
    }
  }

  /// Why not all names could be made.
  private func taken(among names: [String], over connection: Connection) throws -> StoreError {
    let (name, role) = try connection.row(
      """
      select name, coalesce(role, '') from quake.watcher
       where name = any (\(names)::text[]) order by holder is distinct from \(holder) desc limit 1
      """, as: (String, String).self)
    return StoreError(
      .replaced, "consumer \"\(name)\" belongs to role \"\(role)\" or to another process",
      hint: "Give the consumer another name, or run it as that role.")
  }

  private func describe(_ descriptions: [Description], over connection: Connection) throws {
    try connection.execute(
      """
      insert into quake.consumer as c (name, sink, alert)
      select d.name, d.sink, d.alert::boolean
        from unnest(\(descriptions.map(\.name))::text[],
                    \(descriptions.map { Self.cut($0.sink) })::text[],
                    \(descriptions.map { $0.isAlert ? "t" : "f" })::text[]) d (name, sink, alert)
      on conflict (name) do update set sink = excluded.sink, alert = excluded.alert
       where (c.sink, c.alert) is distinct from (excluded.sink, excluded.alert)
      """)
  }

  func states(of names: [String], over connection: Connection) throws -> [String: State] {
    let states = try connection.rows(
      """
      select w.name, case when w.token = 0 then '0' else w.token || '.' || w.nonce end as token,
             w.changes, c.paused_at is not null as paused, c.changed_at, c.held_back,
             (select count(*) from quake.delivery d
               where d.consumer = w.name and d.parked_at is not null) as parked
        from quake.watcher w join quake.consumer c on c.name = w.name
       where w.name = any (\(names)::text[])
      """, format: .binary
    ) { row throws(PostgresError) in
      (
        try row["name"] as String, try row["token"] as ChangeToken, try row["changes"] as Int64,
        try row["paused"] as Bool, try row["changed_at"] as Timestamp,
        try row["held_back"] as Int64, try row["parked"] as Int64
      )
    }
    return Dictionary(
      uniqueKeysWithValues: states.map { name, token, changes, paused, at, held, parked in
        (
          name,
          State(
            cursor: HistoryCursor(token: token, changes: changes), isPaused: paused, changedAt: at,
            heldBack: held, parked: parked)
        )
      })
  }

  // MARK: - What is owed

  /// Reads what consumers owe and have not parked, in the order in which it was made.
  package func owed(
    by names: [String], over connection: Connection,
    _ body: (_ consumer: String, _ owed: Owed) throws -> Void
  ) throws {
    try connection.forEachRow(
      """
      select consumer, number, subject, attempts::bigint as attempts,
             (extract(epoch from coalesce(due_at, clock_timestamp()) - clock_timestamp()) * 1e6)::bigint as delay,
             (extract(epoch from clock_timestamp() - made_at) * 1e6)::bigint as age
        from quake.delivery
       where consumer = any (\(names)::text[]) and parked_at is null
       order by consumer, number
      """, format: .binary
    ) { row in
      try body(
        row["consumer"],
        Owed(
          number: row["number"], subject: row["subject"], attempts: Int(row["attempts"] as Int64),
          delay: .microseconds(row["delay"] as Int64), age: .microseconds(row["age"] as Int64)))
    }
  }

  /// The contents of messages that are owed; those that were discarded meanwhile are missing.
  package func messages(
    _ numbers: [(consumer: String, number: Int64)], over connection: Connection
  ) throws -> [(consumer: String, number: Int64, message: Message)] {
    try connection.rows(
      """
      select d.consumer, d.number, d.id, d.kind, d.subject, d.token, d.variables, d.data
        from unnest(\(numbers.map(\.consumer))::text[], \(numbers.map(\.number))::bigint[])
               n (consumer, number)
        join quake.delivery d on d.consumer = n.consumer and d.number = n.number
      """, format: .binary
    ) { row throws(PostgresError) in
      (
        try row["consumer"], try row["number"],
        try Self.message(row)
      )
    }
  }

  static func message(_ row: borrowing SQLRow) throws(PostgresError) -> Message {
    let kind: String = try row["kind"]
    let variables: String = try row["variables"]
    return Message(
      id: try row["id"], kind: Message.Kind(rawValue: kind) ?? .change, subject: try row["subject"],
      token: try row["token"], variables: Self.variables(variables), data: try row["data"])
  }
}

// MARK: - Forms

extension ConsumerStore {
  /// The nonce of a cursor's token as the database stores it; nil for the beginning.
  static func nonce(of cursor: HistoryCursor) -> String? {
    let words = "\(cursor.token)".split(separator: ".")
    return words.count == 2 ? String(words[1]) : nil
  }

  /// Variables as lines `NAME=value`.
  static func text(of variables: [Message.Variable]) -> String {
    variables.map { "\($0.name)=\($0.value.replacing("\n", with: " "))" }.joined(separator: "\n")
  }

  /// The variables of such lines.
  static func variables(_ text: String) -> [Message.Variable] {
    text.split(separator: "\n").map { line in
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return Message.Variable(
        name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
    }
  }

  /// A text that the database takes: at most 4,000 bytes, without NUL.
  static func cut(_ text: String) -> String {
    var text = text.replacing("\0", with: "")
    while text.utf8.count > 4000 { text.removeLast(max(1, (text.utf8.count - 4000) / 4)) }
    return text
  }
}
