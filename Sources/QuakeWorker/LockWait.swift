internal import Basics
package import Postgres

/// A session that waits for a lock, and the sessions that block it.
package struct LockWait: Sendable, Equatable {
  /// A session, or a prepared transaction, as another session sees it. Properties that this role may not see
  /// are nil.
  package struct Session: Sendable, Equatable {
    /// Process id of its server process; nil for a prepared transaction.
    package var processID: Int64?
    package var role: String?
    /// Its `application_name`.
    package var application: String?
    /// Address of the client; also nil over a Unix socket.
    package var client: String?
    /// Its state, such as `idle in transaction`.
    package var state: String?
    /// Seconds since it entered this state.
    package var stateSeconds: Double?
    /// Global identifier of a prepared transaction.
    package var preparedTransaction: String?
  }

  package var waiter: Session
  /// How long it has waited, in seconds; nil if unknown.
  package var seconds: Double?
  /// Type of the lock, as in `pg_locks.locktype`.
  package var type: String
  /// Its mode, as in `pg_locks.mode`.
  package var mode: String
  /// The relation that the lock is on, with its schema, if there is one.
  package var relation: String?
  /// Description of the lock: `the commit lock`, `a lock on quake.quake`, ...
  package var object: String
  /// The sessions that block it, at most ten. Those that do not wait themselves come first.
  package var holders: [Session]
  /// The number of sessions that block it.
  package var holderCount: Int
}

extension LockWait {
  /// The wait of a server process; nil if it does not wait for a lock.
  package static func of(
    processID: Int32, over connection: Connection
  ) throws(PostgresError) -> LockWait? {
    try find("l.pid = \(processID)", over: connection).first
  }

  /// Sessions of Quake's tools, or that hold or want a lock on a relation of the schema, that have waited for a lock
  /// longer than the limit; the longest wait first.
  package static func all(
    longerThan limit: Duration, over connection: Connection
  ) throws(PostgresError) -> [LockWait] {
    try find(
      """
      clock_timestamp() - waiting.since > make_interval(secs => \(limit.inSeconds))
      and (a.datname = current_database() and a.application_name like 'quake-%'
           or exists (select from pg_locks o join pg_class c on c.oid = o.relation
                       where o.pid = l.pid and c.relnamespace = to_regnamespace('quake')
                         and o.database = (select d.oid from pg_database d
                                            where d.datname = current_database())
                         and (not o.granted or o.mode <> 'AccessShareLock')))
      """, over: connection)
  }

  /// The waiting sessions that meet a condition. Servers before version 14 do not report the start of a wait; the start
  /// of the statement, if it is known, stands in for it. A prepared transaction has no session: it is named if it is
  /// the only one of the database.
  private static func find(
    _ condition: SQL, over connection: Connection
  ) throws(PostgresError) -> [LockWait] {
    var waits: [LockWait] = []
    _ = try connection.rows(
      """
      select l.pid as waiter, a.usename as waiter_role, a.application_name as waiter_application,
             host(a.client_addr) as waiter_client, a.state as waiter_state,
             extract(epoch from clock_timestamp() - a.state_change)::double precision as waiter_seconds,
             nullif(h.pid, 0) as holder, s.usename as holder_role,
             s.application_name as holder_application, host(s.client_addr) as holder_client,
             s.state as holder_state,
             extract(epoch from clock_timestamp() - s.state_change)::double precision as holder_seconds,
             case when h.pid = 0 then
               (select min(p.gid) from pg_prepared_xacts p where p.database = current_database()
                having count(*) = 1) end as prepared_transaction,
             h.count as holders,
             extract(epoch from clock_timestamp() - waiting.since)::double precision as seconds,
             l.locktype, l.mode, l.transactionid,
             (select n.nspname || '.' || c.relname
                from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where c.oid = coalesce(l.relation, (select t.relation from pg_locks t
                                                    where t.pid = l.pid and t.granted
                                                      and t.locktype = 'tuple' limit 1))) as relation
        from pg_locks l
        left join pg_stat_activity a on a.pid = l.pid
       cross join lateral (
         select coalesce((to_jsonb(l) ->> 'waitstart')::timestamptz, a.query_start)) waiting (since)
        left join lateral (
          select b.pid, count(*) over () as count,
                 row_number() over (
                   order by exists (select from pg_locks x where x.pid = b.pid and not x.granted),
                            b.pid) as place
            from (select distinct u.pid from unnest(pg_blocking_pids(l.pid)) u (pid)) b) h
          on h.place <= 10
        left join pg_stat_activity s on s.pid = h.pid
       where not l.granted and \(sql: condition)
       order by waiting.since nulls last, l.pid, h.place
      """
    ) { row throws(PostgresError) in
      let (waiter, holders): (Int64, Int?) = (try row["waiter"], try row["holders"])
      if waits.last?.waiter.processID != waiter {
        let (type, relation): (String, String?) = (try row["locktype"], try row["relation"])
        waits.append(
          LockWait(
            waiter: Session(
              processID: waiter, role: try row["waiter_role"],
              application: try row["waiter_application"], client: try row["waiter_client"],
              state: try row["waiter_state"], stateSeconds: try row["waiter_seconds"]),
            seconds: try row["seconds"], type: type, mode: try row["mode"], relation: relation,
            object: describe(type, relation, transaction: try row["transactionid"]), holders: [],
            holderCount: holders ?? 0))
      }
      guard holders != nil else { return }
      waits[waits.count - 1].holders.append(
        Session(
          processID: try row["holder"], role: try row["holder_role"],
          application: try row["holder_application"], client: try row["holder_client"],
          state: try row["holder_state"], stateSeconds: try row["holder_seconds"],
          preparedTransaction: try row["prepared_transaction"]))
    }
    return waits
  }

  /// The lock under which a transaction gets its token and commits.
  private static let commitLock = "quake.commit_lock"

  private static func describe(
    _ type: String, _ relation: String?, transaction: String?
  ) -> String {
    switch type {
    case "relation":
      return relation == commitLock ? "the commit lock" : "a lock on \(relation ?? "a table")"
    case "tuple": return "a row of \(relation ?? "a table")"
    case "transactionid":
      let end = "the end of transaction \(transaction ?? "")"
      return relation.map { "a row of \($0), and so for \(end)" } ?? end
    default: return "a lock of type \(type)" + (relation.map { " on \($0)" } ?? "")
    }
  }
}
