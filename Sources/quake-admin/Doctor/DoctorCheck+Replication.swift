import Basics
import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeTool
import QuakeWorker

/// Standbys and what holds back WAL, rows and notifications.
extension DoctorCheck {
  static let replication = [
    standby, slots, region, archive, notificationQueue, longTransactions, preparedTransactions,
  ]

  private static let standby = DoctorCheck("standby") { patient in
    guard patient.isStandby else { return try standbys(of: patient) }
    // After a quiet hour the last transaction is an hour old while the first new one is being replayed.
    let deadline = Deadline(after: .seconds(1))
    while let lag = try ServerFigures.ownLag(over: patient.connection) {
      let isLate = lag.isReceiving && Duration(lag: lag.seconds ?? 0) > patient.limits.standbyLag
      guard isLate, !deadline.hasPassed else { return try own(lag, patient) }
      _ = Signals.wait(timeout: .milliseconds(50))
    }
    return .ok("this was a hot standby, and is a primary now")
  }

  private static func own(_ lag: ServerFigures.OwnLag, _ patient: Patient) throws -> Finding {
    guard lag.isReceiving else {
      return .problem(
        "this hot standby is not connected to its primary",
        "Look at its log and at primary_conninfo; a standby that restores archives alone is late by design."
      )
    }
    let late = Duration(lag: lag.seconds ?? 0)
    guard late > patient.limits.standbyLag else {
      return .ok("this is a hot standby, which keeps up")
    }
    let isPaused = try patient.connection.row("select pg_is_wal_replay_paused()", as: Bool.self)
    return .warning(
      """
      this hot standby has not replayed all that it received, and its last transaction is \
      \(Readable.duration(late)) old
      """,
      isPaused
        ? "Its replay is paused: run \"select pg_wal_replay_resume()\" on it."
        : "Look for long queries on it, and at its disk.")
  }

  private static func standbys(of patient: Patient) throws -> Finding {
    let standbys = try ServerFigures.standbys(over: patient.connection)
    let count = Readable.count(standbys.count, "standby")
    if !standbys.isEmpty, try !patient.seesSessions() {
      return .unseen("how far \(count) may be behind", seeing(patient))
    }
    let isWaiting = try patient.connection.row(
      "select current_setting('synchronous_standby_names') <> ''", as: Bool.self)
    if isWaiting, !standbys.contains(where: { $0.isSynchronous == true }) {
      return .problem(
        "commits wait for a synchronous standby, and none is connected",
        "Start the standby, or empty synchronous_standby_names and reload the server.")
    }
    let late = standbys.filter {
      $0.isStreaming != true || $0.lagSeconds ?? 0 > patient.limits.standbyLag.inSeconds
        || $0.behindBytes ?? 0 > patient.limits.retainedWAL
    }
    guard late.isEmpty else {
      return .warning(
        "behind, or not streaming: \(Patient.list(late.map(\.name)))",
        "Look at its log, its disk and its network.")
    }
    return .ok(standbys.isEmpty ? "there is none" : "\(count) streaming")
  }

  private static let slots = DoctorCheck("slots") { patient in
    let slots = try ServerFigures.slots(over: patient.connection)
    let next = """
      Start its reader again, or remove the slot: select pg_drop_replication_slot('NAME'). \
      max_slot_wal_keep_size bounds what a slot keeps.
      """
    let lost = slots.filter(\.isLost).map(\.name)
    let full = slots.filter { $0.retainedBytes > patient.limits.retainedWAL }.map {
      "slot \($0.name) keeps \(Readable.bytes(Int($0.retainedBytes))) of WAL on the disk"
    }
    guard lost.isEmpty else {
      return .problem(
        (lost.map { "slot \($0) has lost what its reader needs, or is about to" } + full).joined(
          separator: "; "),
        """
        Start its reader again. If it cannot go on, drop the slot and set the reader up anew. A larger \
        max_slot_wal_keep_size, or a longer idle_replication_slot_timeout, keeps more.
        """)
    }
    if !patient.isStandby, let problem = StatusLimits.problem(of: slots) {
      return .problem(problem.message, problem.hint ?? "")
    }
    guard full.isEmpty else { return .problem(full.joined(separator: "; "), next) }
    let unused = slots.filter { !$0.isActive }.map(\.name)
    guard unused.isEmpty else {
      return .warning("nobody reads slot \(Patient.list(unused))", next)
    }
    return .ok(
      slots.isEmpty ? "there is none" : "\(Readable.count(slots.count, "slot")), all in use")
  }

  private static let region = DoctorCheck("region") { patient in
    guard let region = try ServerFigures.region(over: patient.connection) else {
      return .ok("this database is no region")
    }
    if let problem = StatusLimits.problem(of: region) {
      return .problem(problem.message, problem.hint ?? "Run \"quake-admin region check\".")
    }
    return .ok("this is region \(region.name), which gets what its centre commits")
  }

  private static let archive = DoctorCheck("WAL archive") { patient in
    let (mode, hasCommand, failed, segment, hasArchived) = try patient.connection.row(
      """
      select current_setting('archive_mode'),
             current_setting('archive_command') <> '' or current_setting('archive_library', true) <> '',
             coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false), last_failed_wal,
             last_archived_time is not null
        from pg_stat_archiver
      """, as: (String, Bool, Bool, String?, Bool).self)
    guard mode != "off" else {
      return .ok("off: backups are those of pg_dump or pg_basebackup alone")
    }
    guard !patient.isStandby || mode == "always" else { return .ok("is left to the primary") }
    guard hasCommand else {
      return .problem(
        "archive_mode is \(mode), and archive_command is empty: WAL stays on the disk",
        "Set archive_command or archive_library, or archive_mode = off and restart the server.")
    }
    guard failed else { return .ok(hasArchived ? "works" : "no segment was archived yet") }
    return .problem(
      "the last attempt failed, to archive \(segment ?? "a segment"): WAL stays on the disk",
      """
      The server's log has the error. Until it is corrected, point-in-time recovery ends before that segment.
      """)
  }

  private static let notificationQueue = DoctorCheck("notification queue") { patient in
    let usage = try patient.connection.row("select pg_notification_queue_usage()", as: Double.self)
    let found = "\(Readable.decimal(usage * 100, places: 1)) % full"
    guard usage >= NotificationQueue.standardLimit else { return .ok(found) }
    let suspects = try NotificationQueue.suspects(over: patient.connection).map(\.words)
    return .problem(
      suspects.isEmpty ? found : "\(found), most likely pinned by \(Patient.list(suspects))",
      "End the session that stays in a transaction or does not read: select pg_terminate_backend(PID)."
    )
  }

  /// They keep dead rows, WAL and notifications.
  private static let longTransactions = DoctorCheck("long transactions") { patient in
    guard try patient.seesSessions() else {
      return .unseen("the transactions of other roles", seeing(patient))
    }
    let limit = patient.limits.transaction.inSeconds
    let long = try patient.connection.rows(
      """
      select format('session %s of %s (%s, %s)', pid, usename, application_name, state),
             extract(epoch from clock_timestamp() - xact_start)::float8
        from pg_stat_activity
       where pid <> pg_backend_pid() and backend_type = 'client backend'
         and extract(epoch from clock_timestamp() - xact_start) > \(limit)
       order by xact_start limit 20
      """, as: (String, Double).self)
    guard let oldest = long.first else {
      return .ok("none is open for longer than \(Readable.duration(patient.limits.transaction))")
    }
    return .warning(
      "\(oldest.0) has been in a transaction for \(Readable.duration(Duration(lag: oldest.1)))"
        + (long.count > 1 ? ", and \(long.count - 1) more" : ""),
      "End it if it was forgotten: select pg_terminate_backend(PID). Set idle_in_transaction_session_timeout."
    )
  }

  private static let preparedTransactions = DoctorCheck("prepared transactions") { patient in
    let (count, seconds) = try patient.connection.row(
      """
      select count(*)::int8, extract(epoch from clock_timestamp() - min(prepared))::float8 from pg_prepared_xacts
      """, as: (Int64, Double?).self)
    guard count > 0 else { return .ok("there is none") }
    let age = Duration(lag: seconds ?? 0)
    let found =
      "\(Readable.count(Int(count), "transaction")), the oldest for \(Readable.duration(age))"
    return age > patient.limits.transaction
      ? .problem(
        found,
        """
        Find it in pg_prepared_xacts, and end it with "commit prepared" or "rollback prepared" in its database.
        """
      )
      : .ok(found)
  }
}
