public import Postgres
public import QuakeModel

/// One event: as it is, under whatever id it is known, and how it came to be so.
public struct EventHistory {
  private let connection: Connection

  /// Questions over `connection`.
  public init(connection: Connection) {
    self.connection = connection
  }

  /// The event that has, or had, this id; nil if none is there.
  public func event(_ id: String) throws -> QuakeRecord? {
    let rows = try connection.execute(Self.find, [.text(id)], format: .binary)
    return rows.rowCount > 0 ? try rows.record(0, firstColumn: 0) : nil
  }

  /// The code under which the history has the event that has, or had, this id, whether it is there or
  /// not; nil if the history knows none.
  public func code(of id: String) throws -> String? {
    try connection.execute(
      """
      select c.code
        from (select 1, q.code from quake.find($1) q
              union all select 2, $1
              union all select 3, a.code from quake.quake_alias a where a.id = $1) c (choice, code)
       where exists (select from quake.quake_version v where v.code = c.code)
       order by c.choice limit 1
      """, [.text(id)]
    ).text(0, 0)
  }

  /// Reads the versions of the event of a code that the history holds, the oldest first. As long as
  /// `body` takes, the server keeps the state of the beginning.
  ///
  /// - Parameter body: Gets each version. That of a truncate comes where it took the event away.
  public func versions(
    of code: String, _ body: (EventVersion) throws -> Void
  ) throws {
    var last: QuakeRecord?
    try connection.stream(Self.versions, [.text(code)]) { rows in
      for row in 0..<rows.rowCount {
        let version = try Self.version(rows, row, of: code, after: last)
        try body(version)
        last = version.new
      }
    }
  }

  private static func version(
    _ rows: borrowing QueryResult, _ row: Int, of code: String, after last: QuakeRecord?
  ) throws -> EventVersion {
    guard let op = rows.text(row, 15).flatMap({ ChangeOperation(rawValue: $0) }) else {
      throw StoreError(.inconsistent, "the history holds an operation that is not known")
    }
    let isThere = op == .insert || op == .update
    return EventVersion(
      transaction: try ChangeRow.transaction(rows, row), position: rows.binaryInteger(row, 14),
      op: op, code: code, changed: rows.binaryTextArray(row, 16) ?? [],
      old: op == .insert
        ? nil : try last ?? (op == .delete ? rows.record(row, firstColumn: 17) : nil),
      new: isThere ? try rows.record(row, firstColumn: 17) : nil)
  }

  private static let find = SQL(
    trusted: "select \(ChangeRow.eventColumns(of: "q")) from quake.find($1) q")

  private static let versions = SQL(
    trusted: """
      select \(ChangeRow.transactionColumns(of: "t", updated: "updated")),
             v.position, v.op, v.changed, \(ChangeRow.eventColumns(of: "(v.event)"))
        from quake.versions($1) with ordinality v
        join quake.change_transaction t on t.token = split_part(v.token, '.', 1)::bigint
       order by v.ordinality
      """)
}
