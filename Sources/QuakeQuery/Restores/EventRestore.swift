package import Postgres
internal import QuakeHistory
public import QuakeModel

/// Undoes transactions or batch edits, or restores deleted events.
public struct EventRestore: Hashable, Sendable {
  /// The transactions or the edit to undo, or the events to restore.
  public enum Source: Hashable, Sendable {
    /// The events as they were before these transactions: inserted events are deleted, updated columns get
    /// their old values, deleted events their rows.
    case transactions([ChangeToken])
    /// The events as they were before all transactions of an edit.
    case edit(Int64)
    /// Deleted events, as they were when they were deleted.
    case events(EventSelection)
  }

  /// The transactions or the edit to undo, or the events to restore.
  public var source: Source
  /// Whether later changes of the same events and columns are overwritten. An event whose deletion was purged
  /// from the history then loses its tombstone, so that the next snapshot that has it stores it anew.
  public var isForced: Bool
  /// The author.
  public var author: EditAuthor
  /// See `EventEdit.title`.
  public var title: String?

  /// A restore.
  public init(
    _ source: Source, isForced: Bool = false, by author: EditAuthor, title: String? = nil
  ) {
    self.source = source
    self.isForced = isForced
    self.author = author
    self.title = title
  }
}

/// The transactions that a restore undoes, as the history numbers them.
struct RestoreScope {
  /// Their `transaction_id`s.
  let transactions: [Int64]
  /// Those of an edit whose history was purged.
  let purged: Int64

  /// The scope of tokens.
  ///
  /// - Throws: `StoreError` if one is not of this history, or what was before it was purged.
  init(_ tokens: [ChangeToken], over connection: Connection) throws {
    var found: [Int64] = []
    for token in tokens {
      let (id, truncated, floor, context): (Int64?, Int64?, Int64, String?)
      do throws(PostgresError) {
        (id, truncated, floor, context) = try connection.row(
          """
          select t.transaction_id, t.truncated, f.token, t.context
            from quake.history_floor f
            left join quake.change_transaction t on t.token = quake.token_number(\(token))
          """, as: (Int64?, Int64?, Int64, String?).self)
      } catch {
        guard let invalid = StoreError(token: error) else { throw error }
        throw invalid.kind == .token(.expired) ? Self.purged(token) : invalid
      }
      guard let id else {
        throw StoreError(.token(.malformed), "token \(token) is not of a transaction")
      }
      guard token.number > floor else { throw Self.purged(token) }
      guard truncated == 0 else {
        throw StoreError(
          .badData, "cannot undo transaction \(token): it truncated the table of events",
          hint: "\"quake-query list --as-of\" with the token before it has the events.")
      }
      guard context != ChangeTransaction.associationContext else {
        throw StoreError(
          .badData, "cannot undo transaction \(token): it associated events, or ended associations",
          hint: """
            "quake-admin associations split" and "join" decide about two events, and "associations disable" \
            ends all associations.
            """)
      }
      found.append(id)
    }
    transactions = found
    purged = 0
  }

  /// The scope of an edit.
  ///
  /// - Throws: `StoreError` if there is no such edit.
  init(edit id: Int64, over connection: Connection) throws {
    let rows = try connection.rows(
      """
      select e.transaction_id, t.token > f.token
        from quake.edit d
       cross join quake.history_floor f
        left join quake.edit_transaction e on e.edit_id = d.id
        left join quake.change_transaction t on t.transaction_id = e.transaction_id
       where d.id = \(id) order by t.token
      """, as: (Int64?, Bool?).self)
    guard !rows.isEmpty else {
      throw StoreError(
        .unknownEdit, "there is no edit \(id)", hint: "The table quake.edit lists the edits.")
    }
    var found: [Int64] = []
    var purged: Int64 = 0
    for (transaction, isThere) in rows {
      guard let transaction else { continue }
      if isThere == true { found.append(transaction) } else { purged += 1 }
    }
    transactions = found
    self.purged = purged
  }

  private static func purged(_ token: ChangeToken) -> StoreError {
    StoreError(
      .token(.expired), "cannot undo transaction \(token): the history before it was purged",
      hint: "Restore from a backup, or let the feeds store the events anew.")
  }
}

enum DeletedSelection {
  /// The codes of the deleted events of a selection, whose conditions the events met when they were deleted,
  /// with the rows that they had superseded and that were deleted together with them. A selection that names
  /// codes also finds events under other ids, and events that were deleted without a tombstone. `alone` are those
  /// of them whose successors stay deleted.
  static func codes(
    of selection: EventSelection, over connection: Connection
  ) throws -> (codes: CodeList, alone: [String]) {
    var codes = CodeList()
    var alone: [String] = []
    let conditions = EditConditions(selection.withoutCodes, alias: "v", isTable: false)
    let source: SQL
    if let named = selection.filter.codes {
      let ids = named.filter { !$0.utf8.contains(0) && $0.utf8.count <= 1024 }.sorted()
      let names: SQL = "\(ids)::text[]"
      source = """
        select i.id as code from unnest(\(sql: names)) i (id)
         where not exists (select from quake.quake_alias a join quake.tombstone d on d.code = a.code
                            where a.id = i.id and not exists (select from quake.tombstone o where o.code = i.id))
         union
        select a.code from unnest(\(sql: names)) i (id)
          join quake.quake_alias a on a.id = i.id
          join quake.tombstone d on d.code = a.code
         where not exists (select from quake.tombstone o where o.code = i.id)
        """
    } else {
      source = "select d.code from quake.tombstone d"
    }
    var isChosen: [SQL] = []
    if !conditions.conditions.isEmpty { isChosen = ["v.op = 'delete'", conditions.text] }
    if selection.filter.codes == nil {
      if !selection.includesSuperseded { isChosen.append("v.superseded_by is null") }
      if !selection.includesWithdrawn { isChosen.append("v.withdrawn_at is null") }
    }
    try connection.forEachRow(
      """
      with chosen as materialized (
        select c.code, v.transaction_id
          from (\(sql: source)) c
          left join lateral (
            select v.* from quake.quake_version v where v.code = c.code order by v.id desc limit 1) v on true
         where \(sql: HistoryConditions.all(isChosen))
         order by v.time, c.code collate "C" limit \(selection.limit)
      ), found as materialized (
        select c.code from chosen c
         union
        select v.code
          from (select distinct c.transaction_id from chosen c) t
         cross join lateral (
            select v.* from quake.quake_version v
             where v.transaction_id = t.transaction_id and v.op = 'delete' and v.superseded_by is not null offset 0) v
         -- "coalesce" keeps the planner from a join, for which it could read all of the list for each event.
         where coalesce((v.superseded_by, v.transaction_id) in (select c.code, c.transaction_id from chosen c), false)
           and exists (select from quake.tombstone d where d.code = v.code offset 0)
           and not exists (select from quake.quake_version n where n.code = v.code and n.id > v.id)
           and not \(sql: RestoreStatements.isAssociated("v"))
      )
      select f.code,
             coalesce((select v.superseded_by from quake.quake_version v where v.code = f.code order by v.id desc limit 1)
                        in (select d.code from quake.tombstone d except select o.code from found o), false) as is_alone
        from found f
      """
    ) { row in
      codes.append(contentsOf: try row.bytes("code"))
      if try row["is_alone"] { alone.append(try row["code"]) }
    }
    return (codes, alone)
  }
}

extension EventSelection {
  fileprivate var withoutCodes: EventSelection {
    var selection = self
    selection.filter.codes = nil
    return selection
  }
}

/// The effects that a restore would have.
public struct RestorePlan: Hashable, Sendable {
  /// An event that was changed after the transaction that is to be undone.
  public struct Conflict: Hashable, Sendable {
    /// The event.
    public let code: String
    /// The latest of these changes; nil: the table was truncated.
    public let operation: ChangeOperation?
    /// The transaction of that change.
    public let transaction: ChangeToken?
    /// Its author.
    public let author: String?
  }

  /// Events that would be inserted again.
  public internal(set) var inserted: Int64 = 0
  /// Events that would get old values.
  public internal(set) var updated: Int64 = 0
  /// Events that would be deleted, because their insertion is undone.
  public internal(set) var deleted: Int64 = 0
  /// Events that are already as they were.
  public internal(set) var unchanged: Int64 = 0
  /// The first events that were changed since.
  public internal(set) var conflicts: [Conflict] = []
  /// The number of events that were changed since.
  public internal(set) var conflictCount: Int64 = 0
  /// Deleted events that cannot be restored, because the history of their deletion was purged.
  public internal(set) var lost: Int64 = 0
  /// The codes of the first events that would change.
  public internal(set) var sample: [String] = []

  /// The events that would change, without those that were changed since.
  public var count: Int64 { inserted + updated + deleted }
}

/// An event that was deleted and stays so, until it is restored or somebody inserts it again
/// (`quake.tombstone`).
package struct Tombstone: Sendable {
  package let code: String
  /// Why it was deleted: `deleted`, `expired` or `undone`.
  package let reason: String
  package let deletedAt: Timestamp
  /// The author of the deletion; nil: not known.
  package let author: String?
  /// The context that the author gave; nil: none.
  package let context: String?
  /// The batch edit that deleted it; nil: none did.
  package let edit: Int64?

  /// The tombstone of the event that had this id; nil if there is none.
  package static func find(_ id: String, over connection: Connection) throws -> Tombstone? {
    try connection.firstRow(
      """
      select t.code, t.reason, t.deleted_at, t.author, t.context, t.edit_id
        from (select 1 as choice, \(id)::text as code
              union all
              select 2, a.code from quake.quake_alias a where a.id = \(id)) c
        join quake.tombstone t on t.code = c.code
       order by c.choice limit 1
      """, format: .binary
    ) { row throws(PostgresError) in
      Tombstone(
        code: try row["code"], reason: try row["reason"], deletedAt: try row["deleted_at"],
        author: try row["author"], context: try row["context"], edit: try row["edit_id"])
    }
  }
}
