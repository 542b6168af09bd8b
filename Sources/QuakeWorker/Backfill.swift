package import Postgres
package import QuakeModel

/// A backfill and its progress: a row of `quake.backfill`.
///
/// An advisory lock of the session ensures that only one process works on it. The lock ends with the
/// connection.
package struct Backfill: Sendable {
  /// The parameters of a backfill. A backfill with the same parameters as an unfinished one continues it.
  package struct Parameters: Sendable, Equatable {
    /// Base address of the event service, without user name and password, or the absolute path of the
    /// folder or file.
    package var url: String
    /// The data centre; nil if the files contain it.
    package var source: String?
    /// The span of time; nil for files.
    package var span: BackfillWindow?
    /// Least magnitude; nil: all events.
    package var minimumMagnitude: Double?
    /// The region of the epicentres, as text; nil: everywhere.
    package var region: String?

    package init(
      url: String, source: String?, span: BackfillWindow? = nil, minimumMagnitude: Double? = nil,
      region: String? = nil
    ) {
      self.url = url
      self.source = source
      self.span = span
      self.minimumMagnitude = minimumMagnitude
      self.region = region
    }

    /// Whether a row of `quake.backfill` has the same ones, whatever its source.
    fileprivate var isSameButSource: SQL {
      """
      url = \(url)
      and start_time is not distinct from \(span?.start)::timestamptz
      and end_time is not distinct from \(span?.end)::timestamptz
      and min_magnitude is not distinct from \(minimumMagnitude)::double precision
      and region is not distinct from \(region)::text
      """
    }

    /// Whether a row of `quake.backfill` has the same ones.
    fileprivate var isSame: SQL {
      "source is not distinct from \(source)::text and \(sql: isSameButSource)"
    }
  }

  package let id: Int64
  package let parameters: Parameters
  /// Whether it continues a backfill that an earlier process did not finish.
  package let isResumed: Bool

  /// Continues the unfinished backfill with these parameters, or begins one.
  ///
  /// - Parameter restart: Delete an unfinished one first, and the record of the files that were stored.
  /// - Throws: `StoreError` of kind `locked` if another process is working on it.
  package static func open(
    _ parameters: Parameters, restart: Bool, over connection: Connection
  ) throws -> Backfill {
    try connection.transaction {
      // Two processes may begin the same backfill at once. Only roles that may write the table can take this
      // lock, and it does not block processes that work on other backfills.
      try connection.execute("lock table quake.backfill in share update exclusive mode")
      let found = try connection.firstRow(
        """
        select id from quake.backfill
         where finished_at is null and \(sql: parameters.isSame) order by id limit 1
        """, as: Int64.self)
      if let found { try hold(found, over: connection) }
      if restart { try forget(parameters, over: connection) }
      if let found, !restart {
        return Backfill(id: found, parameters: parameters, isResumed: true)
      }
      let id = try connection.row(
        """
        insert into quake.backfill (url, source, start_time, end_time, min_magnitude, region)
        values (\(parameters.url), \(parameters.source), \(parameters.span?.start),
                \(parameters.span?.end), \(parameters.minimumMagnitude), \(parameters.region))
        returning id
        """, as: Int64.self)
      try hold(id, over: connection)
      if let span = parameters.span {
        try BackfillWindows(backfill: id, connection: connection).add(span)
      }
      return Backfill(id: id, parameters: parameters, isResumed: false)
    }
  }

  /// Takes the advisory lock of a backfill until the session ends. Unless `roles create` has taken them from PUBLIC, any
  /// role that may connect can take such a lock. If a role that may not write backfills holds it, the backfill gets another key.
  private static func hold(_ id: Int64, over connection: Connection) throws {
    for _ in 0..<3 {
      let isTaken = try connection.firstRow(
        "select pg_try_advisory_lock(lock_key) from quake.backfill where id = \(id)",
        as: Bool.self)
      if isTaken == true { return }
      let holder = try connection.firstRow(
        """
        select a.pid, a.application_name
          from quake.backfill b
          join pg_locks l on l.locktype = 'advisory' and l.objsubid = 1 and l.granted
               and (l.classid::bigint << 32) | l.objid::bigint = b.lock_key
               and l.database = (select d.oid from pg_database d where d.datname = current_database())
          join pg_stat_activity a on a.pid = l.pid
         where b.id = \(id) and has_table_privilege(a.usesysid, 'quake.backfill', 'update')
         limit 1
        """, as: (Int?, String?).self)
      if let (processID, application) = holder {
        throw StoreError(
          .locked, "another process is working on this backfill",
          detail: """
            Its server process is \(processID.map { "\($0)" } ?? ""), its application \
            "\(application ?? "")".
            """, hint: "Wait until it ends, or stop it.")
      }
      try connection.execute("update quake.backfill set lock_key = default where id = \(id)")
    }
    throw StoreError(
      .locked,
      "could not take the lock of this backfill: other sessions hold the lock under every key that was tried",
      hint: "Find them in pg_locks (locktype 'advisory'), end them, and try again.")
  }

  /// The data centre of the unfinished backfill of the same service, span, magnitude and region; nil if there is
  /// none.
  package static func source(
    ofUnfinished parameters: Parameters, over connection: Connection
  ) throws(PostgresError) -> String? {
    try connection.firstRow(
      """
      select source from quake.backfill
       where finished_at is null and \(sql: parameters.isSameButSource)
       order by id desc limit 1
      """, as: String?.self
    ) ?? nil
  }

  private static func forget(_ parameters: Parameters, over connection: Connection) throws {
    try connection.execute(
      "delete from quake.backfill where finished_at is null and \(sql: parameters.isSame)")
    guard parameters.span == nil else { return }
    try connection.execute(
      """
      delete from quake.backfill_file
       where backfill_id in (
         select id from quake.backfill where url = \(parameters.url) and start_time is null)
      """)
  }

  /// Adds the counts of an import, within the import's transaction.
  func add(_ report: ImportReport, over connection: Connection) throws(PostgresError) {
    try connection.execute(
      """
      update quake.backfill
         set seen = seen + \(report.seen), inserted = inserted + \(report.inserted),
             updated = updated + \(report.updated), unchanged = unchanged + \(report.unchanged),
             rejected = rejected + \(report.rejected), duplicate = duplicate + \(report.duplicate)
       where id = \(id)
      """)
  }

  /// Marks it as finished, unless one of its windows is not done.
  package func finish(over connection: Connection) throws(PostgresError) {
    try connection.execute(
      """
      update quake.backfill b set finished_at = clock_timestamp()
       where id = \(id) and not exists (select from quake.backfill_window w
                                         where w.backfill_id = b.id and w.state = 'pending')
      """)
  }

  /// The sums of the counts of all its imports, including those of earlier processes.
  package func totals(over connection: Connection) throws(PostgresError) -> ImportReport {
    try connection.firstRow(
      """
      select seen, inserted, updated, unchanged, rejected, duplicate,
             finished_at is not null as is_complete
        from quake.backfill where id = \(id)
      """
    ) { row throws(PostgresError) in
      var report = ImportReport()
      report.seen = try row["seen"]
      report.inserted = try row["inserted"]
      report.updated = try row["updated"]
      report.unchanged = try row["unchanged"]
      report.rejected = try row["rejected"]
      report.duplicate = try row["duplicate"]
      report.isComplete = try row["is_complete"]
      return report
    } ?? ImportReport()
  }
}

package struct BackfillFiles {
  /// A file as it is now.
  package struct File: Sendable, Equatable {
    /// Absolute path.
    package let path: String
    /// Bytes.
    package let size: Int64
    package let modified: Timestamp

    package init(path: String, size: Int64, modified: Timestamp) {
      self.path = path
      self.size = size
      self.modified = modified
    }
  }

  private let connection: Connection

  package init(over connection: Connection) {
    self.connection = connection
  }

  /// Whether the file was stored with this size and modification time.
  package func isStored(_ file: File) throws(PostgresError) -> Bool {
    try connection.row(
      """
      select exists (select from quake.backfill_file
                      where path = \(file.path) and size = \(file.size)
                        and modified_at = \(file.modified))
      """, prepared: true, as: Bool.self)
  }

  /// Marks a file as stored, within the transaction of the import that stores its events.
  package func markStored(
    _ file: File, of backfill: Backfill, with report: ImportReport
  ) throws(PostgresError) {
    try backfill.add(report, over: connection)
    try connection.execute(
      """
      insert into quake.backfill_file as f
        (path, backfill_id, size, modified_at, import_id, finished_at)
      values (\(file.path), \(backfill.id), \(file.size), \(file.modified), \(report.id), clock_timestamp())
      on conflict (path) do update
        set backfill_id = excluded.backfill_id, size = excluded.size,
            modified_at = excluded.modified_at, import_id = excluded.import_id,
            finished_at = excluded.finished_at
      """)
  }
}
