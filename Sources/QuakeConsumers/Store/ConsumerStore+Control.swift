package import Postgres
internal import QuakeHistory
package import QuakeModel

// For people, and for the process that notices what they did.
extension ConsumerStore {
  /// A consumer, how far it has come, and what it owes.
  package struct Status: Sendable {
    package let name: String
    package let sink: String
    package let isAlert: Bool
    package let cursor: HistoryCursor
    /// Transactions that have not become messages yet, or not whole.
    package let transactionsBehind: Int64
    /// How long the oldest of them has been waiting.
    package let secondsBehind: Double
    package let movedAt: Timestamp
    /// When its process was last seen.
    package let seenAt: Timestamp
    /// Whether the history that it needs has been purged.
    package let isExpired: Bool
    package let madeAt: Timestamp
    package let pausedAt: Timestamp?
    /// Messages that are owed, without the parked ones.
    package let owed: Int64
    package let parked: Int64
    /// How long the oldest one that is owed has been waiting; nil if none is.
    package let oldestSeconds: Double?
    /// Conversations that are open.
    package let conversations: Int64
    package let delivered: Int64
    package let heldBack: Int64
    package let deliveredAt: Timestamp?
    package let failedAt: Timestamp?
    package let error: String?
  }

  /// A message that is owed, for people.
  package struct Delivery: Sendable {
    package let number: Int64
    package let message: Message
    package let madeAt: Timestamp
    package let attempts: Int64
    package let dueAt: Timestamp?
    package let parkedAt: Timestamp?
    package let reason: String?
  }

  /// Which messages `retry` and `discard` concern.
  package enum Selection: Sendable {
    /// All parked ones.
    case parked
    /// All, parked or not.
    case all
    /// Those with these ids.
    case ids([String])

    var condition: SQL {
      switch self {
      case .parked: "parked_at is not null"
      case .all: "true"
      case .ids(let ids): "id = any (\(ids)::text[])"
      }
    }
  }

  /// All consumers, or the one of that name.
  package static func list(_ name: String? = nil, over connection: Connection) throws -> [Status] {
    try connection.rows(
      """
      select c.name, c.sink, c.alert,
             case when l.token = 0 then '0' else w.token || '.' || w.nonce end as token, l.changes,
             l.transactions_behind,
             extract(epoch from l.time_behind)::double precision as seconds_behind, l.moved_at, l.seen_at,
             l.expired, c.made_at, c.paused_at, d.owed, d.parked, d.oldest,
             (select count(*) from quake.conversation o where o.consumer = c.name and o.state = 'open')
               as conversations,
             c.delivered, c.held_back, c.delivered_at, c.failed_at, c.error
        from quake.consumer c
        join quake.watcher w on w.name = c.name
        join quake.watcher_lag l on l.name = c.name
       cross join lateral (
         select count(*) filter (where parked_at is null) as owed,
                count(*) filter (where parked_at is not null) as parked,
                extract(epoch from clock_timestamp() - min(made_at) filter (where parked_at is null))
                  ::double precision as oldest
           from quake.delivery d where d.consumer = c.name) d
       where \(name)::text is null or c.name = \(name)::text
       order by c.name
      """, format: .binary
    ) { row throws(PostgresError) in
      Status(
        name: try row["name"], sink: try row["sink"], isAlert: try row["alert"],
        cursor: HistoryCursor(token: try row["token"], changes: try row["changes"]),
        transactionsBehind: try row["transactions_behind"],
        secondsBehind: try row["seconds_behind"], movedAt: try row["moved_at"],
        seenAt: try row["seen_at"], isExpired: try row["expired"], madeAt: try row["made_at"],
        pausedAt: try row["paused_at"], owed: try row["owed"], parked: try row["parked"],
        oldestSeconds: try row["oldest"], conversations: try row["conversations"],
        delivered: try row["delivered"], heldBack: try row["held_back"],
        deliveredAt: try row["delivered_at"], failedAt: try row["failed_at"],
        error: try row["error"])
    }
  }

  /// The first messages that a consumer owes, in their order.
  package static func deliveries(
    of name: String, parked: Bool, limit: Int, over connection: Connection
  ) throws -> [Delivery] {
    try connection.rows(
      """
      select number, id, kind, subject, token, variables, data, made_at, attempts::bigint as attempts,
             due_at, parked_at, reason
        from quake.delivery
       where consumer = \(name) and (parked_at is not null) = \(parked)
       order by number limit \(limit)
      """, format: .binary
    ) { row throws(PostgresError) in
      Delivery(
        number: try row["number"], message: try Self.message(row), madeAt: try row["made_at"],
        attempts: try row["attempts"], dueAt: try row["due_at"], parkedAt: try row["parked_at"],
        reason: try row["reason"])
    }
  }

  /// Stops deliveries; what is owed goes on to be recorded, up to the limit of the backlog.
  ///
  /// - Returns: Whether there is such a consumer, and the role may change it.
  package static func pause(_ name: String, over connection: Connection) throws -> Bool {
    try connection.execute(
      """
      update quake.consumer
         set paused_at = coalesce(paused_at, clock_timestamp()), changed_at = clock_timestamp()
       where name = \(name)
      """
    ).affectedRows > 0
  }

  /// Delivers again.
  ///
  /// - Returns: Whether there is such a consumer, and the role may change it.
  package static func resume(_ name: String, over connection: Connection) throws -> Bool {
    try connection.execute(
      "update quake.consumer set paused_at = null, changed_at = clock_timestamp() where name = \(name)"
    ).affectedRows > 0
  }

  /// Moves a consumer's cursor. What it owes stays; a message that is made again has the same id. Conversations that
  /// began later are forgotten with what they owe, and begin again.
  ///
  /// - Returns: Whether there is such a consumer, and the role may change it.
  package static func rewind(
    _ name: String, to cursor: HistoryCursor, over connection: Connection
  ) throws -> Bool {
    try connection.transaction {
      let moved = try connection.execute(
        """
        update quake.watcher w
           set token = \(cursor.token.number), nonce = \(nonce(of: cursor)), changes = \(cursor.changes),
               holder = \(rewound), moved_at = now()
         where w.name = \(name) and exists (select from quake.consumer c where c.name = w.name)
        """
      ).affectedRows
      guard moved > 0 else { return false }
      try connection.execute(
        """
        with gone as (
          delete from quake.conversation
           where consumer = \(name) and split_part(id, '.', 1)::bigint > \(cursor.token.number)
          returning id)
        delete from quake.delivery d using gone g where d.consumer = \(name) and d.subject = g.id
        """)
      return try touch(name, over: connection)
    }
  }

  /// Tries messages again at once, also parked ones.
  ///
  /// - Returns: How many.
  package static func retry(
    _ name: String, _ selection: Selection, over connection: Connection
  ) throws -> Int {
    try connection.transaction {
      let count = try connection.execute(
        """
        update quake.delivery
           set attempts = 0, due_at = null, parked_at = null, made_at = clock_timestamp()
         where consumer = \(name) and \(sql: selection.condition)
        """
      ).affectedRows
      if count > 0 { _ = try touch(name, over: connection) }
      return count
    }
  }

  /// Removes messages that are owed: they are never delivered, unless an attempt is under way.
  ///
  /// - Returns: How many.
  package static func discard(
    _ name: String, _ selection: Selection, over connection: Connection
  ) throws -> Int {
    try connection.transaction {
      let count = try connection.execute(
        "delete from quake.delivery where consumer = \(name) and \(sql: selection.condition)"
      ).affectedRows
      if count > 0 { _ = try touch(name, over: connection) }
      return count
    }
  }

  private static func touch(_ name: String, over connection: Connection) throws -> Bool {
    try connection.execute(
      "update quake.consumer set changed_at = clock_timestamp() where name = \(name)"
    ).affectedRows > 0
  }

  // MARK: - Noticing it

  /// What has become of a consumer since its process last looked.
  package enum Notice: Hashable, Sendable {
    /// It was paused or resumed, or its deliveries were changed by hand.
    case changed
    /// It was rewound: it is to be taken anew.
    case rewound
    /// Another process has taken it.
    case replaced
    /// It was removed.
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
             case when c.name is null then 'removed' when w.holder = \(holder) then 'changed'
                  when w.holder = \(Self.rewound) then 'rewound' else 'replaced' end
        from unnest(\(known.map(\.name))::text[], \(known.map { "\($0.changedAt)" })::timestamptz[])
               k (name, changed_at)
        left join quake.watcher w on w.name = k.name
        left join quake.consumer c on c.name = k.name
       where w.holder is distinct from \(holder) or c.changed_at is distinct from k.changed_at
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

  /// The states of consumers after a notice, or after an uncertain connection.
  package func reload(
    _ names: [String], over connection: Connection
  ) throws -> [String: State] {
    try states(of: names, over: connection)
  }
}
