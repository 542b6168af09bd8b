package import Postgres
package import QuakeHistory
package import QuakeModel

/// A consumer as an operator sees it: how far it is behind, what it owes, and how its receiver answers.
package struct ConsumerStatus: Sendable {
  /// What it does, or why it does nothing; the first that applies.
  package enum State: String, CaseIterable, Sendable {
    /// The history that it needs has been purged.
    case expired
    case paused
    /// No process runs it.
    case notRunning = "not running"
    /// Its receiver did not take the last message.
    case failing
    /// It delivers, or waits for changes.
    case running
  }

  package let name: String
  /// What it delivers to, for people, without secrets.
  package let sink: String
  /// Whether it tells of earthquakes, and not of changes.
  package let isAlerting: Bool
  /// When the name was first used.
  package let madeAt: Timestamp
  /// Since when it is paused; nil: it is not.
  package let pausedAt: Timestamp?
  /// How many messages its receiver has taken.
  package let delivered: Int64
  /// How many messages the limit of the rate has dropped.
  package let heldBack: Int64
  /// How many messages its receiver takes in an hour, of late.
  package let rate: Double
  /// When its receiver last took a message.
  package let deliveredAt: Timestamp?
  /// When an attempt last failed.
  package let failedAt: Timestamp?
  /// Why it failed.
  package let error: String?
  /// Messages that it still has to deliver; those that are parked are not among them.
  package let owed: Int64
  /// When the oldest of them was made.
  package let oldestOwedAt: Timestamp?
  /// Messages whose delivery was given up.
  package let parked: Int64
  /// The role whose consumer it is; nil: that of the next role that uses it.
  package let role: String?
  /// Its cursor, and how far that is behind.
  package let cursor: DurableCursor.Status
  /// The server's time.
  package let time: Timestamp

  /// How long a process may be silent that runs a consumer. It shows that it runs every 10 s.
  package static let longestSilence = Duration.seconds(60)

  /// Whether a process has run it, or its client has acknowledged something, within `longestSilence`.
  package var isRun: Bool { age(of: cursor.seenAt) <= Self.longestSilence }

  /// Whether its receiver asks a server for its changes, and shows that it runs with each acknowledgement.
  package var isRemote: Bool { sink.hasPrefix(RemoteConsumer.sinkPrefix) }

  /// The name of the program that follows it with the library; nil: another one runs it.
  package var program: String? {
    sink.hasPrefix(Self.programPrefix) ? String(sink.dropFirst(Self.programPrefix.count)) : nil
  }
  package static let programPrefix = "program "

  /// Whether the last attempt failed.
  package var isFailing: Bool {
    guard let failedAt else { return false }
    return deliveredAt.map { $0 < failedAt } ?? true
  }

  package var state: State {
    if cursor.isExpired { return .expired }
    if pausedAt != nil { return .paused }
    if !isRun { return .notRunning }
    return isFailing ? .failing : .running
  }

  /// How long the oldest change has been waiting that its receiver has not got; parked messages wait no more.
  package var lag: Duration {
    max(.zero, .seconds(cursor.secondsBehind), oldestOwedAt.map { age(of: $0) } ?? .zero)
  }

  /// The time since `moment`, by the server's clock.
  package func age(of moment: Timestamp) -> Duration {
    let (age, overflow) = time.microseconds.subtractingReportingOverflow(moment.microseconds)
    return overflow ? .zero : .microseconds(max(0, age))
  }
}

extension ConsumerStatus {
  /// All consumers of a store, by name.
  package static func list(over connection: Connection) throws -> [ConsumerStatus] {
    let cursors = try DurableCursor.list(over: connection)
    let byName = Dictionary(cursors.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    return try connection.rows(
      """
      select c.name, c.sink, c.alert, c.made_at, c.paused_at, c.delivered, c.held_back,
             c.rate * exp(- greatest(0, least(500,
               extract(epoch from n.now - c.delivered_at)::double precision / 3600))) as rate,
             c.delivered_at, c.failed_at, c.error, coalesce(d.owed, 0) as owed, d.oldest,
             coalesce(d.parked, 0) as parked, w.role::text, n.now
        from quake.consumer c join quake.watcher w using (name)
             cross join (select clock_timestamp() as now offset 0) n
             left join (
               select d.consumer, count(*) filter (where d.parked_at is null) as owed,
                      min(d.made_at) filter (where d.parked_at is null) as oldest,
                      count(d.parked_at) as parked
                 from quake.delivery d group by d.consumer) d on d.consumer = c.name
       order by c.name
      """, format: .binary
    ) { row throws(PostgresError) in
      let name: String = try row["name"]
      // One that was made since the cursors were read comes with the next answer.
      guard let cursor = byName[name] else { return nil as ConsumerStatus? }
      return ConsumerStatus(
        name: name, sink: try row["sink"], isAlerting: try row["alert"],
        madeAt: try row["made_at"], pausedAt: try row["paused_at"],
        delivered: try row["delivered"], heldBack: try row["held_back"],
        rate: try row["rate"] ?? 0, deliveredAt: try row["delivered_at"],
        failedAt: try row["failed_at"], error: try row["error"], owed: try row["owed"],
        oldestOwedAt: try row["oldest"], parked: try row["parked"], role: try row["role"],
        cursor: cursor, time: try row["now"])
    }.compactMap { $0 }
  }

  package static func names(over connection: Connection) throws(PostgresError) -> [String] {
    try connection.rows("select name from quake.consumer order by name", as: String.self)
  }
}

/// A message that a consumer owes, or whose delivery was given up.
package struct OwedMessage: Sendable {
  package let id: String
  /// Messages with the same subject are delivered in order.
  package let subject: String
  package let kind: String
  /// The transaction that it tells of.
  package let token: String
  package let madeAt: Timestamp
  /// How many attempts have failed.
  package let attempts: Int64
  /// When to try again; nil: at once.
  package let dueAt: Timestamp?
  /// When the attempts were given up; nil: they were not.
  package let parkedAt: Timestamp?
  /// Why the last attempt failed.
  package let reason: String?
  package let text: String?

  /// The messages of a consumer: those that are parked, then the others, the oldest first.
  package static func list(
    of consumer: String, atMost limit: Int, over connection: Connection
  ) throws(PostgresError) -> [OwedMessage] {
    try connection.rows(
      """
      select id, subject, kind, token, made_at, attempts::int8 as attempts, due_at, parked_at, reason,
             substring(variables from '(?n)^QUAKE_TEXT=(.*)$') as text
        from quake.delivery where consumer = \(consumer)
       order by parked_at is null, number limit \(limit)
      """, format: .binary
    ) { row throws(PostgresError) in
      OwedMessage(
        id: try row["id"], subject: try row["subject"], kind: try row["kind"],
        token: try row["token"], madeAt: try row["made_at"], attempts: try row["attempts"],
        dueAt: try row["due_at"], parkedAt: try row["parked_at"], reason: try row["reason"],
        text: try row["text"])
    }
  }
}
