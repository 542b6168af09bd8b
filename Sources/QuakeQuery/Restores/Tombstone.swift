public import Postgres
public import QuakeModel

/// An event that was deleted and stays so, until it is restored or somebody inserts it again
/// (`quake.tombstone`).
public struct Tombstone: Sendable {
  /// The event.
  public let code: String
  /// Why it was deleted: `deleted`, `expired` or `undone`.
  public let reason: String
  /// When.
  public let deletedAt: Timestamp
  /// The author of the deletion; nil: not known.
  public let author: String?
  /// The context that the author gave; nil: none.
  public let context: String?
  /// The batch edit that deleted it; nil: none did.
  public let edit: Int64?

  /// The tombstone of the event that had this id; nil if there is none.
  public static func find(_ id: String, over connection: Connection) throws -> Tombstone? {
    let rows = try connection.execute(
      """
      select t.code, t.reason, t.deleted_at, t.author, t.context, t.edit_id
        from (select 1 as choice, $1::text as code
              union all
              select 2, a.code from quake.quake_alias a where a.id = $1) c
        join quake.tombstone t on t.code = c.code
       order by c.choice limit 1
      """, [.text(id)], format: .binary)
    guard rows.rowCount > 0, let code = rows.text(0, 0), let reason = rows.text(0, 1),
      let time = rows.binaryTimestamp(0, 2)
    else { return nil }
    return Tombstone(
      code: code, reason: reason, deletedAt: Timestamp(microseconds: time), author: rows.text(0, 3),
      context: rows.text(0, 4), edit: rows.binaryInteger(0, 5))
  }
}
