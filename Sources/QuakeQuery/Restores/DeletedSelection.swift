internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// Selects deleted events.
enum DeletedSelection {
  /// The codes of the deleted events of a selection, whose conditions the events met when they were deleted,
  /// with the rows that they had superseded and that were deleted together with them. A selection that names
  /// codes also finds events under other ids, and events that were deleted without a tombstone.
  static func codes(of selection: EventSelection, over connection: Connection) throws -> CodeList {
    var codes = CodeList()
    var conditions = EditConditions(
      selection.withoutCodes, alias: "v", isTable: false, firstParameter: 1)
    let source: String
    if let named = selection.filter.codes {
      let names = conditions.place(
        .array(named.filter { !$0.utf8.contains(0) && $0.utf8.count <= 1024 }.sorted()), "text[]")
      source = """
        select i.id as code from unnest(\(names)) i (id)
         where not exists (select from quake.quake_alias a join quake.tombstone d on d.code = a.code
                            where a.id = i.id and not exists (select from quake.tombstone o where o.code = i.id))
         union
        select a.code from unnest(\(names)) i (id)
          join quake.quake_alias a on a.id = i.id
          join quake.tombstone d on d.code = a.code
         where not exists (select from quake.tombstone o where o.code = i.id)
        """
    } else {
      source = "select d.code from quake.tombstone d"
    }
    let hasConditions = !conditions.conditions.isEmpty
    try connection.stream(
      SQL(
        trusted: """
          with chosen as materialized (
            select c.code, v.transaction_id
              from (\(source)) c
              left join lateral (
                select v.* from quake.quake_version v where v.code = c.code order by v.id desc limit 1) v on true
             where \(hasConditions ? "v.op = 'delete' and \(conditions.text)" : "true")
             order by v.time, c.code collate "C" \(selection.limit.map { "limit \($0)" } ?? "")
          )
          select c.code from chosen c
           union
          select d.code
            from chosen c
            join quake.quake_alias a on a.code = c.code
            join quake.tombstone d on d.code = a.id
           cross join lateral (
              select v.superseded_by, v.transaction_id, v.op from quake.quake_version v
               where v.code = d.code order by v.id desc limit 1) v
           where v.op = 'delete' and v.superseded_by = c.code and v.transaction_id = c.transaction_id
          """), conditions.parameters
    ) { rows in
      for row in 0..<rows.rowCount { codes.append(contentsOf: rows.bytes(row, 0)) }
    }
    return codes
  }
}

extension EventSelection {
  fileprivate var withoutCodes: EventSelection {
    var selection = self
    selection.filter.codes = nil
    return selection
  }
}
