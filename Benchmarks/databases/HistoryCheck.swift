import Postgres

/// The expected history of a store after a first file and, perhaps, a second one.
struct HistoryCheck {
  let first: DataFile
  var then: DataFile?

  /// Throws unless there is one version for each event, and one for each revision.
  func check(_ connection: Connection) throws {
    let row = try connection.execute(
      """
      select (select count(*) from quake.quake_version where op = 'insert'),
             (select count(*) from quake.quake_version where op = 'update'),
             (select count(*) from quake.quake_version where op not in ('insert', 'update')),
             (select coalesce(sum(inserted), 0)::bigint from quake.change_transaction),
             (select coalesce(sum(updated), 0)::bigint from quake.change_transaction)
      """)
    let found = (0..<5).map { Int(row.integer(0, $0) ?? -1) }
    let revised = then?.revised ?? 0
    let wanted = [first.contents.events, revised, 0, first.contents.events, revised]
    guard found == wanted else {
      throw BenchFailure(
        "the history of \(then?.name ?? first.name) is wrong",
        detail:
          "Versions by insert, by update, others, and those the transactions count: \(found), not \(wanted)."
      )
    }
  }
}
