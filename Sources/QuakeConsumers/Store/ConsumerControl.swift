package import Postgres
internal import QuakeHistory
package import QuakeModel

/// An operator's actions on consumers. The process that runs a consumer notices each within seconds.
///
/// They are for the owner of the database and for the consumer's own role. For an unknown name they return nil.
package enum ConsumerControl {
  package struct Rewind: Sendable {
    /// Where the consumer was.
    package let from: ChangeToken
    /// After which transaction it goes on.
    package let to: ChangeToken
    /// How many transactions it reads again; negative: how many it leaves out.
    package let transactions: Int64
    /// How many conversations had not begun at that place: they begin again, with the same ids.
    package let reopened: Int64
    /// How many had begun before, and are what they were at that place.
    package let restored: Int64
    /// How many owed messages were of later transactions, and are made again with the same ids.
    package let dropped: Int64
  }

  /// Stops the deliveries of a consumer until it is resumed. What it owes goes on to be recorded, up to its limit.
  ///
  /// - Returns: Since when it is paused, and whether that is new.
  package static func pause(
    _ name: String, over connection: Connection
  ) throws -> (since: Timestamp, isNew: Bool)? {
    guard try refuseForeign(name, over: connection) else { return nil }
    return try connection.firstRow(
      """
      with old as (select name, paused_at from quake.consumer where name = \(name) for update)
      update quake.consumer c
         set paused_at = coalesce(c.paused_at, clock_timestamp()), changed_at = clock_timestamp()
        from old where c.name = old.name
      returning c.paused_at, old.paused_at is null
      """, format: .binary, as: (Timestamp, Bool).self
    ).map { (since: $0, isNew: $1) }
  }

  /// Resumes a paused consumer.
  ///
  /// - Returns: Whether it was paused.
  package static func resume(_ name: String, over connection: Connection) throws -> Bool? {
    guard try refuseForeign(name, over: connection) else { return nil }
    return try connection.firstRow(
      """
      with old as (select name, paused_at from quake.consumer where name = \(name) for update)
      update quake.consumer c set paused_at = null, changed_at = clock_timestamp()
        from old where c.name = old.name
      returning old.paused_at is not null
      """, as: Bool.self)
  }

  /// In the caller's transaction, moves a consumer to after a transaction of the history, and takes it from the
  /// process that runs it, which then reads it anew.
  ///
  /// Conversations that began later are forgotten, as are owed messages about later changes: both are made again from
  /// the same changes, with the same ids. Conversations that had begun become what they were at that place.
  package static func rewind(
    _ name: String, to place: ChangeToken, over connection: Connection
  ) throws -> Rewind? {
    guard try refuseForeign(name, over: connection) else { return nil }
    let number = place.number
    // The row's lock comes first: what the consumer's process has committed by then is seen below, and it commits
    // nothing more after it has lost the cursor.
    let moved = try connection.firstRow(
      """
      with old as (
        select w.name, w.token, \(sql: DurableCursor.token(of: "w")) as place
          from quake.watcher w where w.name = \(name) for update)
      update quake.watcher w
         set token = \(number), nonce = \(place.nonceText), changes = 0, moved_at = now(),
             -- A process that runs it takes it anew; no other one does meanwhile.
             holder = case when w.holder ~ ':[0-9]{1,9}$' then 'rewound' || substring(w.holder from ':[0-9]*$') end
        from old where w.name = old.name
      returning old.place,
                (select count(*) from quake.change_transaction t
                  where t.token > \(number) and t.token <= old.token)
                - (select count(*) from quake.change_transaction t
                    where t.token > old.token and t.token <= \(number))
      """, as: (ChangeToken, Int64).self)
    guard let (from, transactions) = moved else { return nil }
    let dropped = try connection.execute(
      """
      delete from quake.delivery d
       where d.consumer = \(name) and substring(d.token from '^[0-9]{1,18}')::int8 > \(number)
      """
    ).affectedRows
    let conversations = try ConsumerStore.restoreConversations(
      of: name, after: place, over: connection)
    try noteChange(of: name, over: connection)
    return Rewind(
      from: from, to: place, transactions: transactions, reopened: Int64(conversations.forgotten),
      restored: Int64(conversations.restored), dropped: Int64(dropped))
  }

  /// Has messages delivered that are parked, or that wait for their next attempt.
  ///
  /// - Parameter ids: The messages; empty: all of these.
  /// - Returns: The number of messages.
  package static func retry(
    _ ids: [String], of name: String, over connection: Connection
  ) throws -> Int? {
    guard try refuseForeign(name, over: connection) else { return nil }
    let all = ids.isEmpty
    let count = try connection.execute(
      """
      update quake.delivery
         set made_at = case when parked_at is null then made_at else clock_timestamp() end,
             parked_at = null, due_at = null, attempts = 0, tried_for = '0'
       where consumer = \(name)
         and case when \(all) then parked_at is not null or due_at is not null
                  else id = any (\(ids)::text[]) end
      """
    ).affectedRows
    try refuseUnknown(ids, found: count, of: name)
    try noteChange(of: name, over: connection)
    return count
  }

  package enum Selection: Sendable, Equatable {
    case parked
    /// All that it owes.
    case all
    case ids([String])
  }

  /// How many messages `discard` would discard.
  package static func count(
    _ selection: Selection, of name: String, over connection: Connection
  ) throws(PostgresError) -> Int64 {
    try connection.row(
      """
      select count(*) from quake.delivery
       where consumer = \(name) and \(sql: condition(selection))
      """, as: Int64.self)
  }

  /// Deletes messages, so that they are never delivered.
  ///
  /// - Returns: The number of messages.
  package static func discard(
    _ selection: Selection, of name: String, over connection: Connection
  ) throws -> Int? {
    guard try refuseForeign(name, over: connection) else { return nil }
    let count = try connection.execute(
      "delete from quake.delivery where consumer = \(name) and \(sql: condition(selection))"
    ).affectedRows
    if case .ids(let ids) = selection { try refuseUnknown(ids, found: count, of: name) }
    try noteChange(of: name, over: connection)
    return count
  }

  private static func condition(_ selection: Selection) -> SQL {
    switch selection {
    case .parked: "parked_at is not null"
    case .all: "true"
    case .ids(let ids): "id = any (\(ids)::text[])"
    }
  }

  private static func noteChange(
    of name: String, over connection: Connection
  ) throws(PostgresError) {
    try connection.execute(
      "update quake.consumer set changed_at = clock_timestamp() where name = \(name)")
  }

  /// Refuses a consumer of another role, which row-level security would only hide.
  ///
  /// - Returns: Whether there is a consumer of that name.
  private static func refuseForeign(
    _ name: String, over connection: Connection
  ) throws(PostgresError) -> Bool {
    let found = try connection.firstRow(
      """
      select w.role::text, row_security_active('quake.consumer') and w.role <> current_user
        from quake.consumer c join quake.watcher w using (name) where c.name = \(name)
      """, as: (String?, Bool?).self)
    guard let (role, isForeign) = found else { return false }
    guard isForeign == true, let role else { return true }
    throw PostgresError(
      kind: .server, sqlState: SQLState.insufficientPrivilege,
      message: "consumer \"\(name)\" belongs to role \"\(role)\"",
      hint: "Connect as that role, or as the owner of the database.")
  }

  private static func refuseUnknown(
    _ ids: [String], found count: Int, of name: String
  ) throws(StoreError) {
    let wanted = Set(ids).count
    guard !ids.isEmpty, count < wanted else { return }
    let message =
      wanted == 1
      ? "consumer \"\(name)\" owes no message \(ids[0])"
      : "consumer \"\(name)\" owes only \(count) of these \(wanted) messages"
    throw StoreError(
      .conflict, message, detail: "Nothing was changed.",
      hint: "\"quake-admin consumers show\" lists what it owes.")
  }
}
