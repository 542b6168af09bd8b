internal import Basics
package import Postgres
internal import QuakeHistory
package import QuakeModel

/// The consumers of one process in the database: their cursors, and what they owe.
///
/// One process at a time has a consumer. It writes a page of messages with the cursors in one transaction, so that each
/// message is made once.
package struct ConsumerStore: Sendable {
  /// Tells this process from others. `quake.watcher.holder` has it, and after a colon the server process of the
  /// connection by which it runs the consumer, so that others see when it ends.
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
    package var isPaused: Bool
    /// When somebody last changed it by hand.
    package var changedAt: Timestamp
    /// How many messages the limit of its rate has dropped so far.
    package var heldBack: Int64
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
    /// How long it has been tried, without the time in which the consumer was paused or not run.
    package var tried: Duration

    package init(
      number: Int64, subject: String, attempts: Int = 0, delay: Duration = .zero,
      tried: Duration = .zero
    ) {
      self.number = number
      self.subject = subject
      self.attempts = attempts
      self.delay = delay
      self.tried = tried
    }
  }

  /// Which consumers a process takes.
  package enum Claim: Sendable {
    /// Those of any process.
    case all
    /// Those that no other process runs: the one that had them has ended, lost its connection, or was not seen for a
    /// minute.
    case free
    /// The same, and those of this process that were rewound.
    case rewound
    /// Those that no other process has taken from this one.
    case own
  }

  /// Makes consumers known that have a configuration, and takes those over that have a cursor.
  ///
  /// - Parameter descriptions: Their names are all different.
  /// - Returns: By name, those that it has now, and the names of those that another process runs. The others begin with
  ///   `begin(_:at:)`.
  package func take(
    _ claim: Claim, of descriptions: [Description], over connection: Connection
  ) throws -> (states: [String: State], held: Set<String>) {
    let names = descriptions.map(\.name)
    return try connection.transaction {
      // A process of the server that began after the consumer was last seen is that of another client.
      let taken = try connection.rows(
        """
        with alive as materialized (
          select pid, backend_start from pg_stat_activity where datname = current_database())
        update quake.watcher w
           set holder = \(holder) || ':' || pg_backend_pid(), seen_at = now(),
               role = coalesce(role, current_user)
         where name = any (\(names)::text[])
           and (\(claim == .all) or split_part(holder, ':', 1) = \(holder)
                or split_part(holder, ':', 1) = 'rewound' and \(claim == .rewound)
                or \(claim != .own)
                   and (holder is null or seen_at < now() - interval '60 s'
                        or holder ~ ':[0-9]{1,9}$'
                           and not exists (
                             select from alive a
                              where a.pid = substring(w.holder from ':([0-9]{1,9})$')::int
                                and coalesce(a.backend_start <= w.seen_at, true))))
        returning name
        """, as: String.self)
      let known = Set(taken)
      try describe(descriptions.filter { known.contains($0.name) }, over: connection)
      let held = try connection.rows(
        """
        select name from quake.watcher
         where name = any (\(names.filter { !known.contains($0) })::text[])
           and (coalesce(role, current_user) = current_user or not row_security_active('quake.watcher'))
        """, as: String.self)
      return (try states(of: taken, over: connection), Set(held))
    }
  }

  /// Lets others take what this process has.
  ///
  /// - Parameter names: The consumers; nil: all, because the process ends.
  package func release(
    _ names: [String]? = nil, over connection: Connection
  ) throws(PostgresError) {
    try connection.execute(
      """
      update quake.watcher set holder = null
       where split_part(holder, ':', 1) = \(holder) and (\(names == nil) or name = any (\(names ?? [])::text[]))
      """)
  }

  /// Creates consumers that have no cursor yet.
  ///
  /// - Returns: By name, those that it has made; another process may have been quicker.
  /// - Throws: `StoreError` of kind `replaced` if a name is another role's.
  package func begin(
    _ descriptions: [Description], at cursor: HistoryCursor, over connection: Connection
  ) throws -> [String: State] {
    try connection.transaction {
      let names = descriptions.map(\.name)
      let made = try connection.rows(
        """
        insert into quake.watcher (name, holder, token, nonce, changes)
        select n, \(holder) || ':' || pg_backend_pid(), \(cursor.token.number),
               \(cursor.token.nonceText), \(cursor.changes)
          from unnest(\(names)::text[]) n
        on conflict (name) do nothing
        returning name
        """, as: String.self)
      if made.count < names.count {
        try refuseForeign(names.filter { !made.contains($0) }, over: connection)
      }
      let isMade = Set(made)
      try describe(descriptions.filter { isMade.contains($0.name) }, over: connection)
      return try states(of: made, over: connection)
    }
  }

  /// Refuses names that belong to another role.
  private func refuseForeign(_ names: [String], over connection: Connection) throws {
    let foreign = try connection.firstRow(
      """
      select name, role::text from quake.watcher
       where name = any (\(names)::text[]) and role <> current_user
         and row_security_active('quake.watcher')
       order by name limit 1
      """, as: (String, String).self)
    guard let (name, role) = foreign else { return }
    throw StoreError(
      .replaced, "consumer \"\(name)\" belongs to role \"\(role)\"",
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

  package func states(of names: [String], over connection: Connection) throws -> [String: State] {
    let states = try connection.rows(
      """
      select w.name, \(sql: DurableCursor.token(of: "w")) as token, w.changes,
             c.paused_at is not null as paused, c.changed_at, c.held_back
        from quake.watcher w join quake.consumer c on c.name = w.name
       where w.name = any (\(names)::text[])
      """, format: .binary
    ) { row throws(PostgresError) in
      (
        try row["name"] as String,
        State(
          cursor: HistoryCursor(token: try row["token"], changes: try row["changes"]),
          isPaused: try row["paused"], changedAt: try row["changed_at"],
          heldBack: try row["held_back"])
      )
    }
    return Dictionary(uniqueKeysWithValues: states)
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
             (extract(epoch from tried_for) * 1e6)::bigint as tried
        from quake.delivery
       where consumer = any (\(names)::text[]) and parked_at is null
       order by consumer, number
      """, format: .binary
    ) { row in
      try body(
        row["consumer"],
        Owed(
          number: row["number"], subject: row["subject"], attempts: Int(row["attempts"] as Int64),
          delay: .microseconds(row["delay"] as Int64), tried: .microseconds(row["tried"] as Int64)))
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
  /// Variables as lines `NAME=value`.
  static func text(of variables: [Message.Variable]) -> String {
    variables.map { variable in
      let value = variable.value.unicodeScalars.map { $0 == "\n" ? " " : Character($0) }
      return "\(variable.name)=\(String(value))"
    }.joined(separator: "\n")
  }

  static func variables(_ text: String) -> [Message.Variable] {
    // Byte by byte: "=" and a combining character after it are one Character.
    text.utf8.split(separator: UInt8(ascii: "\n")).map { line in
      let name = line.prefix { $0 != UInt8(ascii: "=") }
      return Message.Variable(
        name: String(Substring(name)), value: String(Substring(line.dropFirst(name.count + 1))))
    }
  }

  /// A text that the database takes: at most 4,000 bytes, without NUL.
  static func cut(_ text: String) -> String {
    var text = text.replacing("\0", with: "")
    while text.utf8.count > 4000 { text.removeLast(max(1, (text.utf8.count - 4000) / 4)) }
    return text
  }
}

/// The clock of the database, by which conversations are due. That of this machine may differ.
package struct DatabaseClock: Sendable {
  /// Between the database's clock and the monotonic one, in microseconds.
  private var difference: Int64 = 0
  private var askedAt = Duration.zero
  private var isKnown = false

  /// How long it counts by itself.
  private static let trust = Duration.seconds(10)

  /// Asks nothing yet.
  package init() {}

  /// The time. Every few seconds it asks the database.
  package mutating func now(over connection: Connection) throws(PostgresError) -> Timestamp {
    if !isKnown || MonotonicClock.now() - askedAt >= Self.trust {
      let time = try connection.row(
        "select clock_timestamp()", format: .binary, as: Timestamp.self)
      askedAt = MonotonicClock.now()
      difference = time.microseconds - askedAt.wholeMicroseconds
      isKnown = true
    }
    return Timestamp(microseconds: MonotonicClock.now().wholeMicroseconds + difference)
  }

  /// How long after its commit time a transaction may become visible.
  private static let commitPatience = Duration.seconds(1)

  /// The time up to which every transaction is visible.
  package mutating func completeTime(over connection: Connection) throws(PostgresError) -> Timestamp
  {
    try now(over: connection).advanced(by: .zero - Self.commitPatience)
  }

  /// How long until every transaction up to a time is visible.
  package mutating func remaining(
    to time: Timestamp, over connection: Connection
  ) throws(PostgresError) -> Duration {
    let left = time.microseconds - (try completeTime(over: connection)).microseconds
    return max(.zero, .microseconds(left))
  }
}

extension ConsumerStore {
  /// What has become of a consumer since its process last looked.
  package enum Notice: Hashable, Sendable {
    /// It was paused or resumed, or its deliveries were changed by hand.
    case changed
    /// It was rewound: it is to be taken anew.
    case rewound
    /// Another process has taken it.
    case replaced
    case removed
  }

  /// Looks for what people and other processes did to consumers of this process.
  ///
  /// - Parameter known: Their names, and `State.changedAt` as it was.
  package func notices(
    _ known: [(name: String, changedAt: Timestamp)], over connection: Connection
  ) throws -> [(name: String, notice: Notice)] {
    try connection.rows(
      """
      select k.name,
             case when c.name is null then 'removed'
                  when split_part(w.holder, ':', 1) = \(holder) then 'changed'
                  when coalesce(w.holder, 'rewound') ~ '^rewound' then 'rewound' else 'replaced' end
        from unnest(\(known.map(\.name))::text[], \(known.map { "\($0.changedAt)" })::timestamptz[])
               k (name, changed_at)
        left join quake.watcher w on w.name = k.name
        left join quake.consumer c on c.name = k.name
       where split_part(w.holder, ':', 1) is distinct from \(holder) or c.changed_at is distinct from k.changed_at
       order by k.name
      """, prepared: true, as: (String, String).self
    ).map { name, notice in
      switch notice {
      case "removed": (name, .removed)
      case "changed": (name, .changed)
      case "rewound": (name, .rewound)
      default: (name, .replaced)
      }
    }
  }
}
