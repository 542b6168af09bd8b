internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// The SQL that brings events back to an earlier state of the history.
///
/// For each event, `before` is its version before the first of the transactions, and `after` its version after
/// the last of them. The present row shows whether a later change is in the way: a column that still
/// has its value of `after`, or already its value of `before`, can be restored.
enum RestoreStatements {
  /// The step that restores an event.
  enum Step: String {
    /// Insert its row again.
    case insert
    /// Delete the row that somebody inserted, and insert its own again.
    case replace
    /// Set the changed columns to their old values.
    case update
    /// Delete it.
    case delete
    /// Nothing: it is as it was.
    case done
    /// Nothing: the event whose columns changed does not exist any more.
    case gone
    /// Nothing: its history was purged.
    case lost
  }

  /// All columns that an update restores.
  private static let columns = QuakeColumn.allCases.filter { $0 != .code && $0 != .firstStored }

  private static func every(_ condition: (String) -> String, _ connective: String) -> String {
    columns.map { "(\(condition($0.name)))" }.joined(separator: " \(connective) ")
  }

  private static func same(_ left: String, _ right: String) -> String {
    let names = columns.map(\.name)
    return """
      row(\(names.map { "\(left).\($0)" }.joined(separator: ", "))) \
      is not distinct from row(\(names.map { "\(right).\($0)" }.joined(separator: ", ")))
      """
  }

  /// The codes of the events that the transactions $1 changed.
  static let codes: SQL = """
    select distinct v.code collate "C" from quake.quake_version v
     where v.transaction_id = any ($1::bigint[]) and v.code is not null
     order by 1
    """

  /// The steps on the events $1 that undo the transactions $2: code, step, whether a later change is
  /// in the way, the numbers of the versions before and after, and the latest change: operation, token, nonce
  /// and author.
  static let undoSteps = SQL(
    trusted: """
      with own as materialized (
        select v.code, min(v.id) as first, max(v.id) as last
          from quake.quake_version v
         where v.code = any ($1::text[]) and v.transaction_id = any ($2::bigint[])
         group by v.code
      ), truncates as materialized (
        select v.id from quake.quake_version v where v.op = 'truncate'
      ), step as (
        select o.code, b.id as before, a.id as after, later.id as later,
               case
                 when e.was and not e.became then
                   case when q.code is null then 'insert'
                        when \(same("q", "b")) and (b.first_stored is null or b.first_stored = q.first_stored)
                          then 'done'
                        else 'replace' end
                 when e.became and not e.was then
                   case when q.code is null then 'done' else 'delete' end
                 when e.was and b.first_stored <> a.first_stored then
                   -- It was deleted and inserted anew, which an update could not undo.
                   case when q.code is null then 'gone'
                        when \(same("q", "b")) and q.first_stored = b.first_stored then 'done'
                        else 'replace' end
                 when e.was then
                   case when \(same("b", "a")) then 'done'
                        when q.code is null then 'gone'
                        when \(every({ "b.\($0) is not distinct from a.\($0) or q.\($0) is not distinct from b.\($0)" }, "and"))
                          then 'done'
                        else 'update' end
                 else 'done'
               end as step,
               case
                 when e.was and not e.became then q.code is not null or later.id is not null
                 when e.became and not e.was then not (\(same("q", "a")))
                 when e.was and b.first_stored <> a.first_stored then
                   q.code is null or not (\(same("q", "a")))
                 else q.code is null
                      or \(every({ "b.\($0) is distinct from a.\($0) and q.\($0) is distinct from a.\($0) and q.\($0) is distinct from b.\($0)" }, "or"))
               end as is_in_way
          from own o
          join quake.quake_version a on a.code = o.code and a.id = o.last
          left join lateral (
            select p.* from quake.quake_version p
             where p.code = o.code and p.id < o.first order by p.id desc limit 1) b on true
         cross join lateral (
            select coalesce(b.op <> 'delete' and not exists (
                     select from truncates t where t.id > b.id and t.id < o.first), false) as was,
                   a.op <> 'delete' as became) e
          left join lateral (
            select w.id from quake.quake_version w
             where w.code = o.code and w.id > o.last and w.transaction_id <> all ($2::bigint[])
             order by w.id desc limit 1) later on true
          left join quake.quake q on q.code = o.code
      )
      select s.code, s.step, s.step <> 'done' and s.is_in_way, s.before, s.after,
             w.op, t.token, t.nonce, t.author
        from step s
        left join quake.quake_version w on s.step <> 'done' and s.is_in_way and w.code = s.code and w.id = s.later
        left join quake.change_transaction t on t.transaction_id = w.transaction_id
       order by s.code collate "C"
      """)

  /// The steps that restore the deleted events $1; the columns are those of `undoSteps`.
  static let deletedSteps: SQL = """
    select c.code,
           case when q.code is not null then 'done' when v.op = 'delete' then 'insert' else 'lost' end,
           false, v.id, v.id, null, null, null, null
      from unnest($1::text[]) c (code)
      left join quake.quake q on q.code = c.code
      left join lateral (
        select v.id, v.op from quake.quake_version v where v.code = c.code order by v.id desc limit 1) v on true
     order by c.code collate "C"
    """

  /// Locks the rows of the events $1.
  static let lock: SQL = """
    select from quake.quake q where q.code = any ($1::text[]) order by q.code collate "C" for update
    """

  /// A column of a version as it is restored. A successor that an association gave the event does not come back,
  /// unless the association is still there: it may be gone, or the successor may be. What associates events
  /// after the restore decides anew.
  private static func value(_ column: QuakeColumn, of version: String) -> String {
    guard column == .supersededBy else { return "\(version).\(column.name)" }
    return """
      case when not exists (select from quake.association n
                             where n.code = \(version).code and n.preferred = \(version).superseded_by)
                and exists (select from quake.quake_version s
                              join quake.change_transaction st on st.transaction_id = s.transaction_id
                             where s.code = \(version).code and s.superseded_by = \(version).superseded_by
                               and st.context = '\(ChangeTransaction.associationContext)')
           then null else \(version).superseded_by end
      """
  }

  /// Inserts the events $1 as they were in their versions $2. A version that was recorded before the history
  /// knew when an event was first stored gets the time of the event's first version.
  static let insert: SQL = {
    let names = QuakeColumn.allCases.filter { $0 != .firstStored }.map(\.name)
    return SQL(
      trusted: """
        insert into quake.quake (\(names.joined(separator: ", ")), first_stored)
        select \(QuakeColumn.allCases.filter { $0 != .firstStored }.map { value($0, of: "v") }
          .joined(separator: ", ")),
               coalesce(v.first_stored, (
                 select t.at from quake.quake_version f
                   join quake.change_transaction t on t.transaction_id = f.transaction_id
                  where f.code = v.code order by f.id limit 1), now())
          from unnest($1::text[], $2::bigint[]) c (code, id)
          join quake.quake_version v on v.code = c.code and v.id = c.id
         order by v.code collate "C"
        """)
  }()

  /// Sets the columns of the events $1 that differ between the versions $2 and $3 to the values of $2.
  static let update = SQL(
    trusted: """
      update quake.quake q
         set \(columns.map { column in
        "\(column.name) = case when b.\(column.name) is distinct from a.\(column.name) then \(value(column, of: "b")) else q.\(column.name) end"
      }.joined(separator: ", "))
        from unnest($1::text[], $2::bigint[], $3::bigint[]) c (code, before, after)
        join quake.quake_version b on b.code = c.code and b.id = c.before
        join quake.quake_version a on a.code = c.code and a.id = c.after
       where q.code = c.code
      """)

  /// Deletes the events $1 again, because their insertion is undone; $2: the number of the edit.
  static let delete = SQL(
    trusted: """
      with chosen as materialized (select * from unnest($1::text[]) c (code)), gone as (
        delete from quake.quake q using chosen c where q.code = c.code returning q.code
      )
      \(tombstones("undone"))
      """)

  /// Deletes the rows $1, which other rows replace.
  static let replace: SQL = "delete from quake.quake q where q.code = any ($1::text[])"

  /// Removes the tombstones of the events $1, and returns a row for each.
  static let forget: SQL =
    "delete from quake.tombstone t where t.code = any ($1::text[]) returning true"

  private static func tombstones(_ reason: String) -> String {
    """
    insert into quake.tombstone (code, reason, author, context, edit_id)
    select g.code, '\(reason)', left(current_setting('quake.author'), 200),
           left(current_setting('quake.context'), 2000), $2
      from gone g
    on conflict (code) do update
       set reason = excluded.reason, older_than = null, deleted_at = excluded.deleted_at,
           author = excluded.author, context = excluded.context, edit_id = excluded.edit_id
    """
  }
}
