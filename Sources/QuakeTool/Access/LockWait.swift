internal import Basics
internal import CommandLine
internal import Postgres
package import QuakeWorker

struct LockWait {
  /// What is locked: `the commit lock`, `a lock on quake.quake`, ...
  let object: String
  /// How long the session has waited, in seconds; nil if unknown.
  private let seconds: Double?
  /// The first session that blocks it, a prepared transaction, which has no process, or nil if that is unknown. Those
  /// that do not wait themselves come first.
  let holder: DatabaseSession?
  private let holderCount: Int

  /// The wait of a server process; nil if it does not wait for a lock. Servers before version 14 do not report the start
  /// of a wait; the start of the statement stands in for it.
  static func of(processID: Int32, over connection: Connection) throws(PostgresError) -> LockWait? {
    try connection.firstRow(
      """
      select l.locktype, l.transactionid,
             (select n.nspname || '.' || c.relname
                from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where c.oid = coalesce(l.relation, (select t.relation from pg_locks t
                                                    where t.pid = l.pid and t.granted
                                                      and t.locktype = 'tuple' limit 1))) as relation,
             extract(epoch from clock_timestamp() -
               coalesce((to_jsonb(l) ->> 'waitstart')::timestamptz, a.query_start))::double precision as seconds,
             h.count as holders, nullif(h.pid, 0) as pid, s.usename as role,
             s.application_name as application, host(s.client_addr) as client, s.state,
             extract(epoch from clock_timestamp() - s.state_change)::double precision as state_seconds
        from pg_locks l
        left join pg_stat_activity a on a.pid = l.pid
        left join lateral (
          select b.pid, count(*) over () as count
            from (select distinct u.pid from unnest(pg_blocking_pids(l.pid)) u (pid)) b
           order by exists (select from pg_locks x where x.pid = b.pid and not x.granted), b.pid
           limit 1) h on true
        left join pg_stat_activity s on s.pid = h.pid
       where not l.granted and l.pid = \(processID)
      """
    ) { row throws(PostgresError) in
      let holderCount: Int? = try row["holders"]
      return LockWait(
        object: describe(
          try row["locktype"], try row["relation"], transaction: try row["transactionid"]),
        seconds: try row["seconds"],
        holder: holderCount == nil
          ? nil
          : DatabaseSession(
            processID: try row["pid"], role: try row["role"], application: try row["application"],
            client: try row["client"], state: try row["state"], seconds: try row["state_seconds"]),
        holderCount: holderCount ?? 0)
    }
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

  // MARK: Sentences

  /// What is locked, and how long the session has waited.
  var message: String {
    let duration = seconds.map {
      " for \(Readable.duration(.milliseconds(Int64(max(0, $0) * 1000))))"
    }
    return "waiting\(duration ?? "") for \(object)"
  }

  var detail: String {
    guard let holder else { return "The holder of the lock could not be determined." }
    let more = holderCount > 1 ? ", and by \(holderCount - 1) more" : ""
    return "Held by \(holder.words)\(more)."
  }

  var hint: String {
    guard let holder else { return "It continues when the lock is free." }
    guard let process = holder.processID else {
      return "It continues when that transaction ends; pg_prepared_xacts lists the prepared ones."
    }
    return "It continues when that transaction ends; pg_terminate_backend(\(process)) ends it."
  }

  /// The error of a statement that was cancelled while it waited.
  var stopped: PostgresError {
    PostgresError(
      kind: .interrupted, sqlState: SQLState.queryCanceled,
      message: "stopped while \(message): the open transaction is rolled back",
      detail: detail, hint: "Repeat it when the lock is free.")
  }
}

extension DatabaseSession {
  /// Describes it: `process 4711 (role bob, application psql, idle in transaction for 44 s)`.
  package var words: String {
    var known: [String] = []
    if let role { known.append("role \(role)") }
    if let application, !application.isEmpty { known.append("application \(application)") }
    if let client { known.append("client \(client)") }
    if let state {
      let age = seconds.map { " for \(Readable.duration(.milliseconds(Int64(max(0, $0) * 1000))))" }
      known.append(state + (age ?? ""))
    }
    // A session whose process id is hidden still has a state.
    let name =
      processID.map { "process \($0)" } ?? (state == nil ? "a prepared transaction" : "a session")
    return known.isEmpty ? name : "\(name) (\(known.joined(separator: ", ")))"
  }
}
