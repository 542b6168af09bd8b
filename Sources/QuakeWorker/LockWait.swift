internal import Basics
package import Postgres

/// A session that waits for a lock, and the sessions that block it.
package struct LockWait: Sendable, Equatable {
  /// A session, or a prepared transaction, as another session sees it. Properties that this role may not see
  /// are nil.
  package struct Session: Sendable, Equatable {
    /// Process id of its server process; nil for a prepared transaction.
    package var processID: Int64?
    /// The role.
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

  /// The waiting session.
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
    try find("l.pid = $1", .integer(Int64(processID)), over: connection).first
  }

  /// Sessions of Quake's tools, or that hold or want a lock on a relation of the schema, that have waited for a lock
  /// longer than the limit; the longest wait first.
  package static func all(
    longerThan limit: Duration, over connection: Connection
  ) throws(PostgresError) -> [LockWait] {
    try find(
      """
      clock_timestamp() - waiting.since > make_interval(secs => $1)
      and (a.datname = current_database() and a.application_name like 'quake-%'
           or exists (select from pg_locks o join pg_class c on c.oid = o.relation
                       where o.pid = l.pid and c.relnamespace = to_regnamespace('quake')
                         and o.database = (select d.oid from pg_database d
                                            where d.datname = current_database())
                         and (not o.granted or o.mode <> 'AccessShareLock')))
      """, .double(limit.inSeconds), over: connection)
  }

  /// The waiting sessions that meet a condition. Servers before version 14 do not report the start of a wait; the start
  /// of the statement, if it is known, stands in for it. A prepared transaction has no session: it is named if it is
  /// the only one of the database.
  private static func find(
    _ condition: StaticString, _ parameter: Parameter, over connection: Connection
  ) throws(PostgresError) -> [LockWait] {
    let rows = try connection.execute(
      SQL(
        trusted: """
          select l.pid, a.usename, a.application_name, host(a.client_addr), a.state,
                 extract(epoch from clock_timestamp() - a.state_change)::double precision,
                 nullif(h.pid, 0), s.usename, s.application_name, host(s.client_addr), s.state,
                 extract(epoch from clock_timestamp() - s.state_change)::double precision,
                 case when h.pid = 0 then
                   (select min(p.gid) from pg_prepared_xacts p where p.database = current_database()
                    having count(*) = 1) end,
                 h.count, extract(epoch from clock_timestamp() - waiting.since)::double precision,
                 l.locktype, l.mode, l.transactionid,
                 (select n.nspname || '.' || c.relname
                    from pg_class c join pg_namespace n on n.oid = c.relnamespace
                   where c.oid = coalesce(l.relation, (select t.relation from pg_locks t
                                                        where t.pid = l.pid and t.granted
                                                          and t.locktype = 'tuple' limit 1)))
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
           where not l.granted and \(condition)
           order by waiting.since nulls last, l.pid, h.place
          """), [parameter])
    var waits: [LockWait] = []
    for row in 0..<rows.rowCount {
      if waits.last?.waiter.processID != rows.integer(row, 0) {
        let (type, relation) = (rows.text(row, 15) ?? "", rows.text(row, 18))
        waits.append(
          LockWait(
            waiter: session(rows, row, from: 0), seconds: number(rows.text(row, 14)), type: type,
            mode: rows.text(row, 16) ?? "", relation: relation,
            object: describe(type, relation, transaction: rows.text(row, 17)), holders: [],
            holderCount: Int(rows.integer(row, 13) ?? 0)))
      }
      guard rows.integer(row, 13) != nil else { continue }
      waits[waits.count - 1].holders.append(
        session(rows, row, from: 6, prepared: rows.text(row, 12)))
    }
    return waits
  }

  static func session(
    _ rows: borrowing QueryResult, _ row: Int, from column: Int, prepared: String? = nil
  ) -> Session {
    Session(
      processID: rows.integer(row, column), role: rows.text(row, column + 1),
      application: rows.text(row, column + 2), client: rows.text(row, column + 3),
      state: rows.text(row, column + 4), stateSeconds: number(rows.text(row, column + 5)),
      preparedTransaction: prepared)
  }

  private static func number(_ text: String?) -> Double? { text.flatMap { Double($0) } }

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
