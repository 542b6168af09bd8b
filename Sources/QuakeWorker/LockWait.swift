internal import Basics
public import Postgres

/// A session that waits for a lock, and the sessions that block it.
public struct LockWait: Sendable, Equatable {
  /// A session, or a prepared transaction, as another session sees it. Properties that this role may not see
  /// are nil.
  public struct Session: Sendable, Equatable {
    /// Process id of its server process; nil for a prepared transaction.
    public var processID: Int64?
    /// The role.
    public var role: String?
    /// Its `application_name`.
    public var application: String?
    /// Address of the client; also nil over a Unix socket.
    public var client: String?
    /// Its state, such as `idle in transaction`.
    public var state: String?
    /// Seconds since it entered this state.
    public var stateSeconds: Double?
    /// Global identifier of a prepared transaction.
    public var preparedTransaction: String?
  }

  /// The waiting session.
  public var waiter: Session
  /// How long it has waited, in seconds; nil if unknown.
  public var seconds: Double?
  /// Type of the lock, as in `pg_locks.locktype`.
  public var type: String
  /// Its mode, as in `pg_locks.mode`.
  public var mode: String
  /// The relation that the lock is on, with its schema, if there is one.
  public var relation: String?
  /// Description of the lock: `the commit lock`, `a lock on quake.quake`, ...
  public var object: String
  /// The sessions that block it, at most ten. Those that do not wait themselves come first.
  public var holders: [Session]
  /// The number of sessions that block it.
  public var holderCount: Int
}

extension LockWait {
  /// The wait of a server process; nil if it does not wait for a lock.
  public static func of(
    processID: Int32, over connection: Connection
  ) throws(PostgresError) -> LockWait? {
    let result = try connection.execute(
      SQL(trusted: "\(selection(of: "l.pid = $1")) \(columns)"), [.integer(Int64(processID))])
    return read(result).first
  }

  /// Sessions of Quake's tools, or on relations of the schema, that have waited for a lock longer than the
  /// limit; the longest wait first.
  public static func all(
    longerThan limit: Duration, over connection: Connection
  ) throws(PostgresError) -> [LockWait] {
    let result = try connection.execute(
      SQL(trusted: "\(selection(of: ours)) \(columns)"), [.double(limit.inSeconds)])
    return read(result)
  }

  /// A session that waits for a row or for the end of a transaction already holds a lock on each relation
  /// that it writes.
  private static let ours = """
    coalesce(pg_catalog.clock_timestamp() - waiting.since > pg_catalog.make_interval(secs => $1), false)
      and (a.datname = current_database() and a.application_name like 'quake-%'
           or exists (select from pg_locks o join pg_class c on c.oid = o.relation
                       where o.pid = l.pid and c.relnamespace = to_regnamespace('quake')
                         and o.database = (select d.oid from pg_database d
                                            where d.datname = current_database())
                         and (not o.granted
                              or l.locktype in ('transactionid', 'virtualxid', 'spectoken', 'tuple')
                                 and o.mode <> 'AccessShareLock')))
    """

  /// The waiting sessions that meet `condition`. Servers before version 14 do not report the start of a wait;
  /// the start of the statement, if it is known, stands in for it.
  private static func selection(of condition: String) -> String {
    """
    with waits as materialized (
      select l.pid, l.locktype, l.mode, l.database, l.relation, l.page, l.tuple, l.virtualxid,
             l.transactionid, l.classid, l.objid, l.objsubid, a.usename, a.application_name,
             a.client_addr, a.state, clock_timestamp() - a.state_change as state_age,
             clock_timestamp() - waiting.since as age,
             coalesce(l.relation, (select t.relation from pg_locks t
                                    where t.pid = l.pid and t.granted and t.locktype = 'tuple' limit 1))
               as about
        from pg_locks l
        left join pg_stat_activity a on a.pid = l.pid
       cross join lateral (
         select coalesce((to_jsonb(l) ->> 'waitstart')::timestamptz, a.query_start)) waiting (since)
       where not l.granted and \(condition)
    )
    """
  }

  private static let columns = """
    select w.pid, w.usename, w.application_name, host(w.client_addr), w.state,
           extract(epoch from w.state_age)::double precision,
           extract(epoch from w.age)::double precision, w.locktype, w.mode,
           (select n.nspname || '.' || c.relname
              from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where c.oid = w.about
               and (w.database is null or w.database = 0
                    or w.database = (select d.oid from pg_database d
                                      where d.datname = current_database()))),
           w.transactionid, (w.classid::bigint << 32) + w.objid::bigint, w.objsubid,
           nullif(h.pid, 0), coalesce(a.usename, pg_get_userbyid(p.owner)), a.application_name,
           host(a.client_addr), a.state,
           extract(epoch from clock_timestamp() - coalesce(a.state_change, p.prepared))::double precision,
           p.gid, h.count
      from waits w
      left join lateral (
        select b.pid, count(*) over () as count,
               row_number() over (
                 order by exists (select from pg_locks x where x.pid = b.pid and not x.granted), b.pid)
                 as place
          from (select distinct u.pid from unnest(pg_blocking_pids(w.pid)) u (pid)) b) h on h.place <= 10
      left join pg_stat_activity a on a.pid = h.pid
      left join lateral (
        select x.gid, x.prepared, r.oid as owner
          from pg_locks g
          -- A prepared transaction holds a lock on itself, too, which says its number.
          join pg_locks own on own.virtualtransaction = g.virtualtransaction and own.pid is null
               and own.locktype = 'transactionid' and own.granted
          join pg_prepared_xacts x on x.transaction = own.transactionid
          left join pg_roles r on r.rolname = x.owner
         where h.pid = 0 and g.pid is null and g.granted
           and (g.locktype, g.database, g.relation, g.page, g.tuple, g.virtualxid, g.transactionid,
                g.classid, g.objid, g.objsubid)
               is not distinct from (w.locktype, w.database, w.relation, w.page, w.tuple, w.virtualxid,
                                     w.transactionid, w.classid, w.objid, w.objsubid)
         limit 1) p on true
     order by w.age desc nulls last, w.pid, h.place
    """

  private static func read(_ rows: borrowing QueryResult) -> [LockWait] {
    var waits: [LockWait] = []
    for row in 0..<rows.rowCount {
      if waits.last?.waiter.processID != rows.integer(row, 0) {
        waits.append(wait(rows, row))
      }
      let holder = session(rows, row, from: 13, prepared: rows.text(row, 19))
      if holder.processID != nil || rows.integer(row, 20) != nil {
        waits[waits.count - 1].holders.append(holder)
      }
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

  private static func wait(_ rows: borrowing QueryResult, _ row: Int) -> LockWait {
    let type = rows.text(row, 7) ?? ""
    let relation = rows.text(row, 9)
    return LockWait(
      waiter: session(rows, row, from: 0), seconds: number(rows.text(row, 6)), type: type,
      mode: rows.text(row, 8) ?? "", relation: relation,
      object: describe(
        type, relation, transaction: rows.text(row, 10), key: rows.integer(row, 11),
        part: rows.integer(row, 12)),
      holders: [], holderCount: Int(rows.integer(row, 20) ?? 0))
  }

  /// The lock under which a transaction gets its token and commits.
  private static let commitLock = "quake.commit_lock"

  private static func describe(
    _ type: String, _ relation: String?, transaction: String?, key: Int64?, part: Int64?
  ) -> String {
    switch type {
    case "relation":
      return relation == commitLock ? "the commit lock" : "a lock on \(relation ?? "a table")"
    case "tuple": return "a row of \(relation ?? "a table")"
    case "transactionid":
      let end = "the end of transaction \(transaction ?? "")"
      return relation.map { "a row of \($0), and so for \(end)" } ?? end
    case "virtualxid": return "the end of another transaction"
    case "advisory": return "advisory lock \(key ?? 0)\(part == 2 ? " (two keys)" : "")"
    default: return "a lock of type \(type)" + (relation.map { " on \($0)" } ?? "")
    }
  }
}
