package import Postgres
package import QuakeModel

/// Counts how often events have been written, in the snapshot of another connection's transaction.
///
/// A query that is read as a stream keeps its connection busy, so a second connection counts.
package struct EventRevisions {
  private let connection: Connection
  private let token: ChangeToken?

  /// - Parameters:
  ///   - other: A connection with an open REPEATABLE READ transaction.
  ///   - connection: A connection of this object's own.
  ///   - token: Only changes up to this transaction count; nil: all.
  package init(
    inSnapshotOf other: Connection, over connection: Connection, upTo token: ChangeToken? = nil
  ) throws {
    let snapshot = try other.row("select pg_catalog.pg_export_snapshot()", as: String.self)
    // The statement takes no parameter.
    guard snapshot.utf8.allSatisfy({ Self.isOfIdentifier($0) }) else {
      throw StoreError(.inconsistent, "the server sent a malformed snapshot identifier")
    }
    try connection.begin(.repeatableRead, readOnly: true)
    try connection.execute(SQL(trusted: "set transaction snapshot '\(snapshot)'"))
    self.connection = connection
    self.token = token
  }

  private static func isOfIdentifier(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || byte == UInt8(ascii: "-")
  }

  /// The number of changes of each event that the history holds, except deletes. Events without any are
  /// missing.
  package func count(of codes: [String]) throws -> [String: Int64] {
    let last: SQL = "\(token?.number)::bigint"
    let counts = try connection.rows(
      """
      select v.code, pg_catalog.count(*)
        from quake.quake_version v
       where v.code = any(\(codes)::text[]) and v.op <> 'delete'
         and (\(sql: last) is null
              or exists (select from quake.change_transaction t
                          where t.transaction_id = v.transaction_id and t.token <= \(sql: last)))
       group by v.code
      """, prepared: true, as: (String, Int64).self)
    return Dictionary(uniqueKeysWithValues: counts.map { ($0, $1) })
  }
}
