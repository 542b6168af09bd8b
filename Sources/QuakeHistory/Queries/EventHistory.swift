package import Postgres
package import QuakeModel

/// One event, found by any of its ids: its present state and its versions.
package struct EventHistory {
  private let connection: Connection

  package init(connection: Connection) {
    self.connection = connection
  }

  /// The event that has, or had, this id; nil if there is none now.
  package func event(_ id: String) throws -> EventRecord? {
    guard !id.utf8.contains(0) else { return nil }
    let rows = try connection.execute(
      "select \(sql: EventColumn.list(of: "q")) from quake.find(\(id)) q", format: .binary)
    return rows.rowCount > 0 ? try rows.record(0, firstColumn: 0) : nil
  }

  /// The code of the event that an edit of this id changes: that of `event`, except that an event that is
  /// associated with a preferred one stands for itself; nil if there is none now.
  package func editedCode(of id: String) throws -> String? {
    try connection.row(
      """
      select coalesce((select a.code from quake.association a where a.code = \(id)),
                      (select q.code from quake.find(\(id)) q))
      """, as: String?.self)
  }

  /// The events of other sources that are the same earthquake as a preferred event.
  package func others(of event: EventRecord) throws -> [String] {
    guard let code = event.code else { return [] }
    let others = try connection.row("select quake.others(\(code))", as: ([String]?).self)
    return others ?? []
  }

  /// The code under which the history has the event that has, or had, this id, whether or not the event
  /// exists now; nil if the history has none.
  package func code(of id: String) throws -> String? {
    // No table has it, and it cannot be sent.
    guard !id.utf8.contains(0) else { return nil }
    return try connection.firstRow(
      """
      select c.code
        from (select 1, q.code from quake.find(\(id)) q
              union all select 2, \(id)::text
              union all select 3, a.code from quake.quake_alias a where a.id = \(id)) c (choice, code)
       where exists (select from quake.quake_version v where v.code = c.code)
       order by c.choice limit 1
      """, as: String.self)
  }

  /// Reads the versions of the event with a code that the history holds, the oldest first. Until `body` has
  /// had the last, the server keeps the snapshot of the beginning.
  ///
  /// - Parameter body: Gets each version. A truncate that removed the event is a version, too.
  package func versions(
    of code: String, _ body: (EventVersion) throws -> Void
  ) throws {
    var last: EventRecord?
    let columns = ChangeDecoder.columnList(
      transaction: "t", version: "v.position", event: "(v.event)")
    try connection.stream(
      """
      select \(sql: columns)
        from quake.versions(\(code)) with ordinality v
        join quake.change_transaction t on t.token = split_part(v.token, '.', 1)::bigint
       order by v.ordinality
      """
    ) { rows in
      for row in 0..<rows.rowCount {
        let version = try Self.version(rows, row, of: code, after: last)
        try body(version)
        last = version.new
      }
    }
  }

  private static func version(
    _ rows: borrowing QueryResult, _ row: Int, of code: String, after last: EventRecord?
  ) throws -> EventVersion {
    let version = try ChangeDecoder.columns.version(rows, row)
    let op = version.op
    return EventVersion(
      transaction: try ChangeDecoder.columns.transaction(rows, row),
      position: rows.binary(row, ChangeDecoder.version).integer, op: op, code: code,
      changed: version.changed,
      old: op == .insert ? nil : last ?? (op == .delete ? version.event : nil),
      new: op == .insert || op == .update ? version.event : nil)
  }

}

/// The list of events as it is now, and the token after which changes to it can be followed without a gap
/// or a repeat.
package enum Snapshot {
  /// Reads the list in one REPEATABLE READ transaction.
  ///
  /// - Parameters:
  ///   - begin: Gets the token first.
  ///   - body: Gets each event, newest origin time first.
  package static func read(
    over connection: Connection, begin: (ChangeToken) throws -> Void,
    _ body: (EventRecord) throws -> Void
  ) throws {
    try connection.atOneMoment {
      try connection.planFreely()
      try begin(try HistoryReader.latestToken(over: connection))
      try connection.copyEvents(list) { try body($0) }
    }
  }

  private static let list: SQL = """
    select \(sql: EventColumn.list(of: "q")) from quake.quake q order by q.time desc, q.code
    """
}
