internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// The SQL that brings events back to an earlier state of the history.
///
/// For each event, `before` is its version before the first of the transactions, and `after` its version after
/// the last of them. The present row shows whether a later change is in the way: a column that still
/// has its value of `after`, or already its value of `before`, can be restored.
enum RestoreStatements {
  enum Step: String, SQLDecodable {
    /// Insert its row again.
    case insert
    /// Delete the row that somebody inserted, and insert its own again.
    case replace
    /// Set the changed columns to their old values.
    case update
    case delete
    /// Nothing: it is as it was.
    case done
    /// Nothing: the event whose columns changed does not exist any more.
    case gone
    /// Nothing: its history was purged.
    case lost
  }

  /// All columns that an update restores.
  private static let columns = EventColumn.allCases.filter { $0 != .code && $0 != .firstStored }

  private static func every(_ condition: (SQL) -> SQL, _ connective: SQL) -> SQL {
    columns.map { "(\(sql: condition(SQL(identifier: $0.name))))" as SQL }
      .joined(separator: " \(sql: connective) ")
  }

  private static func same(_ left: SQL, _ right: SQL) -> SQL {
    """
    row(\(sql: columns.list(of: left))) is not distinct from row(\(sql: columns.list(of: right)))
    """
  }

  /// The codes of the events that transactions changed.
  static func codes(of transactions: [Int64]) -> SQL {
    """
    select distinct v.code collate "C" as code from quake.quake_version v
     where v.transaction_id = any (\(transactions)::bigint[]) and v.code is not null
     order by 1
    """
  }

  /// The steps on events that undo transactions: code, step, whether a later change is in the way, the numbers of
  /// the versions before and after, and the latest change: operation, token and author.
  static func undoSteps(on codes: [String], undoing transactions: [Int64]) -> SQL {
    let transactions: SQL = "\(transactions)::bigint[]"
    let isUndone = every(
      {
        "b.\(sql: $0) is not distinct from a.\(sql: $0) or q.\(sql: $0) is not distinct from b.\(sql: $0)"
      },
      "and")
    let isChangedSince = every(
      {
        """
        b.\(sql: $0) is distinct from a.\(sql: $0) and q.\(sql: $0) is distinct from a.\(sql: $0) \
        and q.\(sql: $0) is distinct from b.\(sql: $0)
        """
      }, "or")
    return """
      with own as materialized (
        -- By the codes alone: the planner could take the transactions, which may be large, for few versions.
        select c.code, min(v.id) as first, max(v.id) as last
          from unnest(\(codes)::text[]) c (code)
         cross join lateral (
            select v.id, v.transaction_id from quake.quake_version v where v.code = c.code offset 0) v
         where v.transaction_id = any (\(sql: transactions))
         group by c.code
      ), truncates as materialized (
        select v.id from quake.quake_version v where v.op = 'truncate'
      ), step as (
        select o.code, b.id as before, a.id as after, later.id as later,
               case
                 when e.was and not e.became then
                   case when q.code is null then 'insert'
                        when \(sql: same("q", "b")) and (b.first_stored is null or b.first_stored = q.first_stored)
                          then 'done'
                        else 'replace' end
                 when e.became and not e.was then
                   case when q.code is null then 'done' else 'delete' end
                 when e.was and b.first_stored <> a.first_stored then
                   -- It was deleted and inserted anew, which an update could not undo.
                   case when q.code is null then 'gone'
                        when \(sql: same("q", "b")) and q.first_stored = b.first_stored then 'done'
                        else 'replace' end
                 when e.was then
                   case when \(sql: same("b", "a")) then 'done'
                        when q.code is null then 'gone'
                        when \(sql: isUndone) then 'done'
                        else 'update' end
                 else 'done'
               end as step,
               case
                 when e.was and not e.became then q.code is not null or later.id is not null
                 when e.became and not e.was then not (\(sql: same("q", "a")))
                 when e.was and b.first_stored <> a.first_stored then
                   q.code is null or not (\(sql: same("q", "a")))
                 else q.code is null or \(sql: isChangedSince)
               end
               -- What is stored now was inserted later, or others changed the event between two of the transactions:
               -- its old values would undo their changes as well.
               or q.first_stored <> a.first_stored or later.id < o.last
               or exists (select from truncates t where t.id between o.first and o.last) as is_in_way
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
             where w.code = o.code and w.id > o.first and w.transaction_id <> all (\(sql: transactions))
             order by w.id < o.last desc, w.id desc limit 1) later on true
          left join quake.quake q on q.code = o.code
      )
      select s.code, s.step, coalesce(s.step <> 'done' and s.is_in_way, false) as is_in_way, s.before,
             s.after, w.op, t.token || '.' || t.nonce as token, t.author
        from step s
        left join quake.quake_version w on s.step <> 'done' and s.is_in_way and w.code = s.code and w.id = s.later
        left join quake.change_transaction t on t.transaction_id = w.transaction_id
       order by s.code collate "C"
      """
  }

  /// The steps that restore deleted events; the columns are those of `undoSteps`.
  static func deletedSteps(on codes: [String]) -> SQL {
    """
    select c.code,
           case when q.code is not null then 'done' when v.op = 'delete' then 'insert' else 'lost' end as step,
           false as is_in_way, v.id as before, v.id as after, null as op, null as token, null as author
      from unnest(\(codes)::text[]) c (code)
      left join quake.quake q on q.code = c.code
      left join lateral (
        select v.id, v.op from quake.quake_version v where v.code = c.code order by v.id desc limit 1) v on true
     order by c.code collate "C"
    """
  }

  static func lock(_ codes: [String]) -> SQL {
    """
    select from quake.quake q where q.code = any (\(codes)::text[]) order by q.code collate "C" for update
    """
  }

  /// Whether an association gave the event of a version its successor.
  static func isAssociated(_ version: SQL) -> SQL {
    """
    exists (select from quake.quake_version s
              join quake.change_transaction st on st.transaction_id = s.transaction_id
             where s.code = \(sql: version).code
               and s.superseded_by = \(sql: version).superseded_by
               and st.context = \(ChangeTransaction.associationContext))
    """
  }

  /// A column of a version as it is restored. A successor that an association gave the event does not come back,
  /// unless the association is still there: it may be gone, or the successor may be. What associates events
  /// after the restore decides anew.
  private static func value(_ column: EventColumn, of version: SQL) -> SQL {
    guard column == .supersededBy else { return "\(sql: version).\(identifier: column.name)" }
    return """
      case when not exists (select from quake.association n
                             where n.code = \(sql: version).code and n.preferred = \(sql: version).superseded_by)
                and \(sql: isAssociated(version))
           then null else \(sql: version).superseded_by end
      """
  }

  /// Inserts events as they were in their versions. A version that was recorded before the history knew when an
  /// event was first stored gets the time of the event's first version. Those whose successors stay deleted become
  /// events of their own: no list would show them.
  static func insert(_ codes: [String], as versions: [Int64], alone: [String]) -> SQL {
    let columns = EventColumn.allCases.filter { $0 != .firstStored }
    let names = columns.map { SQL(identifier: $0.name) }.joined(separator: ", ")
    let values = columns.map { column in
      column == .supersededBy
        ? "case when v.code <> all (\(alone)::text[]) then \(sql: value(column, of: "v")) end"
        : value(column, of: "v")
    }.joined(separator: ", ")
    return """
      insert into quake.quake (\(sql: names), first_stored)
      select \(sql: values),
             coalesce(v.first_stored, (
               select t.at from quake.quake_version f
                 join quake.change_transaction t on t.transaction_id = f.transaction_id
                where f.code = v.code order by f.id limit 1), now())
        from unnest(\(codes)::text[], \(versions)::bigint[]) c (code, id)
        join quake.quake_version v on v.code = c.code and v.id = c.id
       order by v.code collate "C"
      """
  }

  /// Sets the columns of events that differ between the versions `before` and `after` to the values of `before`.
  static func update(_ codes: [String], to before: [Int64], from after: [Int64]) -> SQL {
    let assignments = columns.map { column -> SQL in
      let name = SQL(identifier: column.name)
      return """
        \(sql: name) = case when b.\(sql: name) is distinct from a.\(sql: name) \
        then \(sql: value(column, of: "b")) else q.\(sql: name) end
        """
    }
    return """
      update quake.quake q
         set \(sql: assignments.joined(separator: ", "))
        from unnest(\(codes)::text[], \(before)::bigint[], \(after)::bigint[]) c (code, before, after)
        join quake.quake_version b on b.code = c.code and b.id = c.before
        join quake.quake_version a on a.code = c.code and a.id = c.after
       where q.code = c.code
      """
  }

  // MARK: - Marks of imports

  /// Events `q` of which a column has got back the value of the version `before`, with `s`, the version in which
  /// it had been set to that value, and its transaction `t`. Restores set nothing: they bring back what others set.
  private static func broughtBack(
    _ column: EventColumn, _ codes: [String], to before: [Int64], from after: [Int64]
  ) -> SQL {
    let name = SQL(identifier: column.name)
    return """
      unnest(\(codes)::text[], \(before)::bigint[], \(after)::bigint[]) c (code, before, after)
        join quake.quake q on q.code = c.code and q.\(sql: name) is not null
        left join quake.quake_version a on a.code = c.code and a.id = c.after and a.op <> 'delete'
       cross join lateral (
         select v.* from quake.quake_version v
          where v.code = q.code and v.id <= c.before and v.\(sql: name) = q.\(sql: name)
            and \(column.name) = any (v.changed)
            and not exists (select from quake.edit_transaction e join quake.edit d on d.id = e.edit_id
                             where e.transaction_id = v.transaction_id and d.action = 'restore')
          order by v.id desc limit 1) s
        join quake.change_transaction t on t.transaction_id = s.transaction_id
        left join quake.import i on i.id = t.import_id
       where a.\(sql: name) is distinct from q.\(sql: name)
      """
  }

  /// Adds the aliases of events that are superseded again as an import had superseded them, and removes those that
  /// lead back. Without them the next import would take the state for one that a person has set.
  ///
  /// An import that copied the mark of a person set it, too: such a successor never had the id of the event.
  static func noteSuperseded(_ codes: [String], to before: [Int64], from after: [Int64]) -> SQL {
    """
    with back as materialized (
      select q.code, q.superseded_by as successor, i.generated
        from \(sql: broughtBack(.supersededBy, codes, to: before, from: after))
         and t.import_id is not null
         and exists (select from quake.quake_version n
                      where n.code = q.superseded_by and strpos(',' || n.ids || ',', ',' || q.code || ',') > 0)
    ), freed as (
      delete from quake.quake_alias a using back b
       where a.id = b.successor and a.code = b.code
         and not exists (select from back o where o.code = b.successor)
    )
    insert into quake.quake_alias as a (id, code, as_of)
    select b.code, b.successor, b.generated from back b order by b.code
    on conflict (id) do update set code = excluded.code, named_by = null, as_of = excluded.as_of
     where a.code <> excluded.code
    """
  }

  /// The events that are withdrawn again as an import, or a worker that asked for the event's page, had withdrawn
  /// them, with the feed and the time, as the texts of arrays.
  ///
  /// An import that copied the mark of a person changed no other column, and no snapshot is of that time.
  static func withdrawnByImports(
    _ codes: [String], to before: [Int64], from after: [Int64]
  ) -> SQL {
    """
    select array_agg(q.code order by q.code),
           array_agg(left(coalesce(i.scope, i.feed, t.context, ''), 200) order by q.code),
           array_agg(q.withdrawn_at order by q.code)
      from \(sql: broughtBack(.withdrawnAt, codes, to: before, from: after))
       and (s.as_of = s.withdrawn_at
            or t.import_id is not null
               and (s.changed && '{status,type}'
                    or exists (select from quake.import g where g.generated = s.withdrawn_at)))
    """
  }

  /// Notes that imports have withdrawn events, so that an import can restore them.
  static func noteWithdrawn(_ codes: String, from feeds: String?, at times: String?) -> SQL {
    """
    insert into quake.absence (code, feed, snapshots, since, withdrawn_at)
    select w.code, w.feed, 1, w.at, w.at
      from unnest(\(codes)::text[], \(feeds)::text[], \(times)::timestamptz[]) w (code, feed, at)
    on conflict (code, feed) do update set withdrawn_at = excluded.withdrawn_at
    """
  }

  /// The events that are no longer withdrawn although imports have counted them as missing, as the text of an array.
  static func returned(_ codes: [String], from after: [Int64]) -> SQL {
    """
    select array_agg(q.code)
      from unnest(\(codes)::text[], \(after)::bigint[]) c (code, after)
      join quake.quake q on q.code = c.code and q.withdrawn_at is null
      join quake.quake_version a on a.code = c.code and a.id = c.after and a.withdrawn_at is not null
     where exists (select from quake.absence n where n.code = q.code)
    """
  }

  /// Forgets the snapshots that lacked events, so that counting begins anew.
  static func forgetAbsences(_ codes: String) -> SQL {
    "delete from quake.absence n where n.code = any (\(codes)::text[])"
  }

  // MARK: - Deleting

  /// Makes the events that others superseded events of their own again, because these others are deleted next.
  /// Associations decide about events of different sources by themselves.
  static func free(from codes: [String]) -> SQL {
    let codes: SQL = "\(codes)::text[]"
    return """
      update quake.quake q set superseded_by = null
       where q.superseded_by = any (\(sql: codes)) and q.code <> all (\(sql: codes))
         and not \(sql: AssociationStatements.isOwn("q"))
      """
  }

  /// Deletes events again, because their insertion is undone.
  static func delete(_ codes: [String], edit: Int64) -> SQL {
    """
    with chosen as materialized (select * from unnest(\(codes)::text[]) c (code)), gone as (
      delete from quake.quake q using chosen c where q.code = c.code returning q.code
    )
    insert into quake.tombstone (code, reason, author, context, edit_id)
    select g.code, 'undone', left(current_setting('quake.author'), 200),
           left(current_setting('quake.context'), 2000), \(edit)::bigint
      from gone g
    on conflict (code) do update
       set reason = excluded.reason, older_than = null, deleted_at = excluded.deleted_at,
           author = excluded.author, context = excluded.context, edit_id = excluded.edit_id
    """
  }

  /// Deletes rows that other rows replace.
  static func replace(_ codes: [String]) -> SQL {
    "delete from quake.quake q where q.code = any (\(codes)::text[])"
  }

  static func forget(_ codes: [String]) -> SQL {
    "delete from quake.tombstone t where t.code = any (\(codes)::text[])"
  }
}
