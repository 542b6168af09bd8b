package import Postgres
internal import QuakeHistory
package import QuakeModel

/// A consumer whose receiver asks a server for the changes over HTTP, and acknowledges what it has handled.
///
/// One of changes owes nothing in the database: its cursor is the last acknowledged place. One of conversations owes its
/// messages until they are acknowledged. The name in the database begins with that of the token, so that nobody takes a
/// consumer of another token.
package struct RemoteConsumer: Sendable {
  /// The name in the database.
  package let storedName: String
  /// The token's name.
  private let owner: String
  /// Tells this client from others with the same name. A rewind replaces it.
  private let session: String

  /// The most consumers of a token.
  package static let mostNames = 20

  /// A consumer of a token.
  ///
  /// - Parameters:
  ///   - session: A text that the client has chosen, of the same form as a name; empty: none.
  /// - Returns: nil if a name or the session is not of the form.
  package init?(_ name: String, of owner: String, session: String) {
    guard Self.isName(name), session.isEmpty || Self.isName(session) else { return nil }
    storedName = "\(owner)/\(name)"
    // The limit of the table.
    guard storedName.count <= 200 else { return nil }
    self.owner = owner
    self.session = "http " + session
  }

  /// Whether a text has 1 to 64 letters, digits, points, dashes and underscores.
  package static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "._-".utf8.contains(byte)
        }
      }
  }

  /// For people; it also tells this kind of consumer from others.
  private var sink: String { Self.sinkPrefix + owner }
  package static let sinkPrefix = "clients over HTTP with the token "

  /// A consumer as the database has it.
  package struct State: Hashable, Sendable {
    /// Everything up to here has been acknowledged, or has become messages of conversations.
    package let cursor: HistoryCursor
    /// Since when it is paused; nil: it is not.
    package let pausedAt: Timestamp?
    /// How it tells of earthquakes, as its client has given it; nil: it gets changes.
    package let rule: String?
  }

  private static func state(_ row: borrowing SQLRow) throws(PostgresError) -> State {
    State(
      cursor: HistoryCursor(token: try row["token"], changes: try row["changes"]),
      pausedAt: try row["paused_at"], rule: try row["rule"])
  }

  private static let columns: SQL = """
    \(sql: DurableCursor.token(of: "w")) as token, w.changes, c.paused_at, c.rule
    """

  /// How it is; nil: there is none.
  package func state(over connection: Connection) throws(PostgresError) -> State? {
    try connection.rows(
      """
      select \(sql: Self.columns) from quake.watcher w join quake.consumer c using (name)
       where name = \(storedName) and c.sink = \(sink)
      """, format: .binary
    ) { row throws(PostgresError) in try Self.state(row) }.first
  }

  /// Takes it over from any other client.
  ///
  /// - Parameter holder: One of `makeHolder`, for a stream that only one may have.
  /// - Returns: How it is; nil: there is none of this role.
  package func take(
    as holder: String? = nil, over connection: Connection
  ) throws(PostgresError) -> State? {
    try connection.rows(
      """
      update quake.watcher w
         set holder = \(holder ?? session), seen_at = now(), role = coalesce(w.role, current_user)
        from quake.consumer c
       where w.name = \(storedName) and c.name = w.name and c.sink = \(sink)
      returning \(sql: Self.columns)
      """, format: .binary
    ) { row throws(PostgresError) in try Self.state(row) }.first
  }

  /// What tells a stream of this client from its other ones.
  package func makeHolder() -> String {
    "\(session) \(String(UInt64.random(in: .min ... .max), radix: 16))"
  }

  /// Creates it, which its first use has to do.
  ///
  /// - Parameter rule: How it tells of earthquakes, at most 4096 bytes; nil: it gets changes.
  /// - Throws: `StoreError` of kind `conflict` if the token has too many, or the name is taken.
  package func make(
    at cursor: HistoryCursor, rule: String?, over connection: Connection
  ) throws -> State {
    try connection.transaction {
      let count = try connection.row(
        "select count(*) from quake.consumer where sink = \(sink)", as: Int64.self)
      guard count < Self.mostNames else {
        throw StoreError(
          .conflict, "token \"\(owner)\" has \(count) consumers already, the most that it may have",
          hint: "\"quake-admin consumers remove\" removes those that are no longer used.")
      }
      let made = try connection.execute(
        """
        insert into quake.watcher (name, holder, token, nonce, changes)
        values (\(storedName), \(session), \(cursor.token.number), \(cursor.token.nonceText),
                \(cursor.changes))
        on conflict (name) do nothing
        """
      ).affectedRows
      guard made == 1 else {
        throw StoreError(
          .conflict, "the name \"\(storedName)\" is that of another watcher of the database",
          hint: "Choose another name.")
      }
      try connection.execute(
        """
        insert into quake.consumer (name, sink, alert, rule)
        values (\(storedName), \(sink), \(rule != nil), \(rule))
        """)
      return State(cursor: cursor, pausedAt: nil, rule: rule)
    }
  }

  /// Changes how it tells of earthquakes. What was told before stays.
  package func change(rule: String, over connection: Connection) throws(PostgresError) {
    try connection.execute(
      "update quake.consumer set rule = \(rule) where name = \(storedName) and rule is not null")
  }

  package enum Acknowledgement: Hashable, Sendable {
    /// Everything up to the cursor of this state counts as handled.
    case stored(State)
    /// Another client has taken it, or somebody has moved it.
    case lost
    /// There is none.
    case unknown
  }

  /// Notes that a message and all before it have been handled. One that was acknowledged before changes nothing.
  ///
  /// - Parameter id: The message's.
  package func acknowledge(
    message id: String, over connection: Connection
  ) throws -> Acknowledgement {
    try connection.transaction {
      // The lock of the row comes first, as everywhere.
      let outcome = try acknowledge(nil, over: connection)
      guard case .stored = outcome else { return outcome }
      try connection.execute(
        """
        with gone as (
          delete from quake.delivery d using quake.delivery last
           where last.consumer = \(storedName) and last.id = \(id)
             and d.consumer = last.consumer and d.number <= last.number
          returning d.consumer)
        \(sql: ConsumerStore.countGone)
        """)
      return outcome
    }
  }

  /// Notes that everything up to `cursor` has been handled, and that a client runs. A place that was acknowledged before
  /// changes nothing, nor does any of a consumer with a rule.
  ///
  /// - Throws: `StoreError` of kind `token` if the cursor is not one of this history, of kind `badData` if its
  ///   transaction has fewer changes.
  package func acknowledge(
    _ cursor: HistoryCursor?, over connection: Connection
  ) throws -> Acknowledgement {
    if let cursor { try Self.verify(cursor, over: connection) }
    // The beginning is before every cursor.
    let cursor = cursor ?? HistoryCursor(token: .beginning)
    // A cursor after all changes of a transaction has the number 0, and comes after those within it.
    let found = try connection.firstRow(
      """
      with new as (
        select \(cursor.token.number)::int8 as token, \(cursor.token.nonceText)::text as nonce,
               \(cursor.changes)::int8 as changes),
      old as (
        select w.name, starts_with(w.holder || ' ', \(session + " ")) as is_own, c.paused_at, c.rule,
               c.rule is null and
               (w.token, case w.changes when 0 then \(Int64.max) else w.changes end)
               < (n.token, case n.changes when 0 then \(Int64.max) else n.changes end) as moves
          from quake.watcher w join quake.consumer c using (name) cross join new n
         where w.name = \(storedName) and c.sink = \(sink)
           for update of w),
      moved as (
        update quake.watcher w
           set token = case when o.moves then n.token else w.token end,
               nonce = case when o.moves then n.nonce else w.nonce end,
               changes = case when o.moves then n.changes else w.changes end,
               moved_at = case when o.moves then now() else w.moved_at end, seen_at = now()
          from old o cross join new n
         where w.name = o.name and o.is_own
        returning \(sql: DurableCursor.token(of: "w")) as token, w.changes)
      select o.is_own, m.token, m.changes, o.paused_at, o.rule from old o left join moved m on true
      """, format: .binary, as: (Bool?, ChangeToken?, Int64?, Timestamp?, String?).self)
    guard let (isOwn, token, changes, pausedAt, rule) = found else { return .unknown }
    guard isOwn == true, let token, let changes else { return .lost }
    return .stored(
      State(
        cursor: HistoryCursor(token: token, changes: changes), pausedAt: pausedAt, rule: rule))
  }

  /// Makes sure that a cursor is one of this history.
  ///
  /// - Throws: `StoreError` of kind `token` if it is not, of kind `badData` if its transaction has fewer changes.
  package static func verify(_ cursor: HistoryCursor, over connection: Connection) throws {
    _ = try HistoryBound.token(cursor.token).resolve(over: connection)
    guard cursor.changes > 0 else { return }
    let count = try connection.firstRow(
      """
      select inserted + updated + deleted + truncated from quake.change_transaction
       where token = \(cursor.token.number)
      """, as: Int64.self)
    guard let count, cursor.changes >= count else { return }
    throw StoreError(
      .badData,
      "the cursor \(cursor.eventID) is not one of this history: its transaction has \(count) changes",
      hint: "A cursor is the id of an event of the stream.")
  }
}
