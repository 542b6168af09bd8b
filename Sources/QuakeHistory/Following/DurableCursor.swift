package import Postgres
package import QuakeModel

/// A cursor that the database stores for a watcher under a name (table `watcher`). It holds a purge back,
/// up to a limit.
///
/// One process at a time moves it: the last that took it. A process that has lost it gets an error when it
/// tries to move it.
package struct DurableCursor {
  /// The watcher's name, 1 to 200 characters.
  package let name: String
  /// Tells this process from others that use the name.
  private let holder: String

  /// A cursor by its name; runs no statement yet.
  package init(name: String) {
    self.name = name
    holder = String(UInt64.random(in: .min ... .max), radix: 16)
  }

  /// Whether the name is a consumer's, whose cursor tells what it has been delivered.
  package func isConsumer(over connection: Connection) throws(PostgresError) -> Bool {
    try connection.row(
      "select exists (select from quake.consumer where name = \(name))", as: Bool.self)
  }

  /// Takes the cursor over from any process that has it.
  ///
  /// - Returns: The cursor; nil if the name is new.
  package func take(over connection: Connection) throws -> HistoryCursor? {
    let stored = try connection.firstRow(
      """
      update quake.watcher
         set holder = \(holder), seen_at = now(), role = coalesce(role, current_user)
       where name = \(name)
      returning \(sql: Self.token(of: "watcher")), changes
      """, as: (String?, Int64).self)
    guard let (text, changes) = stored else { return nil }
    guard let token = text.flatMap({ ChangeToken($0) }) else {
      throw StoreError(.inconsistent, "cursor \"\(name)\" does not hold a token")
    }
    return HistoryCursor(token: token, changes: changes)
  }

  /// When the store was created, and the cursor; nil if there is none of that name. When the last cursor of that name
  /// was created that was removed; nil if none was.
  ///
  /// The times tell them from others, also in a restored copy of the database.
  package func origin(
    over connection: Connection
  ) throws(PostgresError) -> (store: Timestamp, cursor: Timestamp?, removed: Timestamp?) {
    try connection.row(
      """
      select (select m.applied_at from quake.migration m order by m.version limit 1),
             (select w.created_at from quake.watcher w where w.name = \(name)),
             (select r.created_at from quake.watcher_removal r where r.name = \(name))
      """, format: .binary, as: (Timestamp, Timestamp?, Timestamp?).self)
  }

  /// Moves the cursor to where its watcher begins; creates it if the name is new.
  ///
  /// - Throws: `StoreError` of kind `replaced` if another process has taken it, `PostgresError` with
  ///   SQLSTATE 42501 if the name is another role's.
  package func begin(at cursor: HistoryCursor, over connection: Connection) throws {
    let rows: Int
    do throws(PostgresError) {
      rows = try insert(cursor, over: connection)
    } catch {
      guard error.sqlState == SQLState.insufficientPrivilege, let role = try role(over: connection)
      else { throw error }
      throw PostgresError(
        kind: .server, sqlState: error.sqlState,
        message: "cursor \"\(name)\" belongs to role \"\(role)\"",
        hint: "Give the watcher another name, or run it as that role.")
    }
    try check(rows)
  }

  /// The role that the cursor belongs to; nil if there is none of that name.
  private func role(over connection: Connection) throws(PostgresError) -> String? {
    try connection.firstRow(
      "select role from quake.watcher where name = \(name)", as: String?.self) ?? nil
  }

  private func insert(
    _ cursor: HistoryCursor, over connection: Connection
  ) throws(PostgresError) -> Int {
    try connection.execute(
      """
      insert into quake.watcher as w (name, holder, token, nonce, changes)
      values (\(name), \(holder), \(cursor.token.number), \(cursor.token.nonceText), \(cursor.changes))
      on conflict (name) do update
         set token = excluded.token, nonce = excluded.nonce, changes = excluded.changes,
             moved_at = now(), seen_at = now()
       where w.holder = excluded.holder
      """
    ).affectedRows
  }

  /// Moves the cursor. A crash of the server may undo the last moves: then some changes come twice.
  ///
  /// - Throws: `StoreError` of kind `replaced` if another process has taken it, or it was
  ///   removed.
  package func move(to cursor: HistoryCursor, over connection: Connection) throws {
    let moved = try connection.execute(
      """
      with quickly as (select set_config('synchronous_commit', 'off', true))
      update quake.watcher w
         set token = \(cursor.token.number), nonce = \(cursor.token.nonceText),
             changes = \(cursor.changes), moved_at = now(), seen_at = now()
        from quickly
       where w.name = \(name) and w.holder = \(holder)
      """)
    try check(moved.affectedRows)
  }

  /// The token of a row of `quake.watcher`.
  ///
  /// - Parameter row: The row's table or alias.
  package static func token(of row: SQL) -> SQL {
    """
    case when \(sql: row).token = 0 then '0' else \(sql: row).token || '.' || \(sql: row).nonce end
    """
  }

  /// Records that the process is alive although the cursor has not moved.
  ///
  /// - Throws: `StoreError` of kind `replaced` if another process has taken the cursor.
  package func touch(over connection: Connection) throws {
    let touched = try connection.execute(
      """
      with quickly as (select set_config('synchronous_commit', 'off', true))
      update quake.watcher w set seen_at = now() from quickly
       where w.name = \(name) and w.holder = \(holder)
      """)
    try check(touched.affectedRows)
  }

  private func check(_ rows: Int) throws {
    guard rows == 0 else { return }
    throw StoreError(
      .replaced, "cursor \"\(name)\" was taken over by another process, or removed",
      hint: "Give each watcher a name of its own.")
  }
}

extension DurableCursor {
  package struct Status: Sendable {
    package let name: String
    /// How far its watcher has come.
    package let cursor: HistoryCursor
    /// Transactions that its watcher has not handed over, or not whole.
    package let transactionsBehind: Int64
    /// How long the oldest of them has been waiting, in seconds.
    package let secondsBehind: Double
    package let movedAt: Timestamp
    /// When its process was last seen.
    package let seenAt: Timestamp
    /// Whether the history it needs has been purged.
    package let isExpired: Bool
  }

  /// All cursors of a store, by name.
  package static func list(over connection: Connection) throws -> [Status] {
    try connection.rows(
      """
      select name, token, changes, transactions_behind,
             extract(epoch from time_behind)::double precision as seconds_behind, moved_at, seen_at,
             expired
        from quake.watcher_lag order by name
      """, format: .binary
    ) { row throws(PostgresError) in
      Status(
        name: try row["name"],
        cursor: HistoryCursor(token: try row["token"], changes: try row["changes"]),
        transactionsBehind: try row["transactions_behind"],
        secondsBehind: try row["seconds_behind"], movedAt: try row["moved_at"],
        seenAt: try row["seen_at"], isExpired: try row["expired"])
    }
  }

  /// Removes a cursor, so that it holds no purge back.
  ///
  /// - Returns: Whether there was one of that name.
  package static func remove(_ name: String, over connection: Connection) throws(PostgresError)
    -> Bool
  {
    try connection.execute("delete from quake.watcher where name = \(name)").affectedRows > 0
  }
}
