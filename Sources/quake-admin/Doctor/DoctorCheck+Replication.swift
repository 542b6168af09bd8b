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
    standby, slots, archive, notificationQueue, longTransactions, preparedTransactions,
  ]

  private static let standby = DoctorCheck("standby") { patient in
    try patient.isStandby ? lag(of: patient) : standbys(of: patient)
  }

  private static func lag(of patient: Patient) throws -> Finding {
    let (isReceiving, isReplayed, seconds) = try patient.connection.row(
      """
      select exists (select from pg_stat_wal_receiver),
             coalesce(pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn(), false),
             extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8
      """, as: (Bool, Bool, Double?).self)
    guard isReceiving else {
      return .problem(
        "this hot standby is not connected to its primary",
        "Look at its log and at primary_conninfo; a standby that restores archives alone is late by design."
      )
    }
    let lag = isReplayed ? .zero : Duration(lag: seconds ?? 0)
    return lag > patient.limits.standbyLag
      ? .warning(
        "this hot standby is \(Readable.duration(lag)) behind",
        "Look for long queries on it, and at its disk and network.")
      : .ok("this is a hot standby, which keeps up")
  }

  private static func standbys(of patient: Patient) throws -> Finding {
    let limit = patient.limits.standbyLag.inSeconds
    let bytes = patient.limits.retainedWAL
    let (count, late, isWaiting) = try patient.connection.row(
      """
      select count(*)::int8,
             string_agg(format('%s (%s)', application_name, client_addr), ', ')
               filter (where state is distinct from 'streaming'
                          or extract(epoch from replay_lag) > \(limit)
                          or pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) > \(bytes)),
             current_setting('synchronous_standby_names') <> ''
               and coalesce(bool_and(coalesce(sync_state, '') not in ('sync', 'quorum')), true)
        from pg_stat_replication
      """, as: (Int64, String?, Bool).self)
    if count > 0, try !patient.seesSessions() {
      return .unseen(
        "how far \(Readable.count(Int(count), "standby server")) may be behind", seeing(patient))
    }
    if isWaiting {
      return .problem(
        "commits wait for a synchronous standby, and none is connected",
        "Start the standby, or empty synchronous_standby_names and reload the server.")
    }
    if let late {
      return .warning(
        "behind, or not streaming: \(late)", "Look at its log, its disk and its network.")
    }
    return .ok(
      count == 0 ? "there is none" : "\(Readable.count(Int(count), "standby server")) streaming")
  }

  private static let slots = DoctorCheck("slots") { patient in
    let slots = try patient.connection.rows(
      """
      select format('%I', slot_name), active, coalesce(wal_status, '') in ('lost', 'unreserved'),
             coalesce(pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_receive_lsn()
                                           else pg_current_wal_lsn() end, restart_lsn), 0)::int8
        from pg_replication_slots order by slot_name
      """, as: (String, Bool, Bool, Int64).self)
    let next = """
      Start its reader again, or remove the slot: select pg_drop_replication_slot('NAME'). \
      max_slot_wal_keep_size bounds what a slot keeps.
      """
    if let lost = slots.first(where: \.2) {
      return .problem(
        "slot \(lost.0) has lost WAL that its reader needs, or is about to",
        "Its reader must be set up anew: then drop the slot. Raise max_slot_wal_keep_size.")
    }
    if let full = slots.max(by: { $0.3 < $1.3 }), full.3 > patient.limits.retainedWAL {
      return .problem(
        "slot \(full.0) keeps \(Readable.bytes(Int(full.3))) of WAL on the disk", next)
    }
    let unused = slots.filter { !$0.1 }.map(\.0)
    if !unused.isEmpty { return .warning("nobody reads slot \(Patient.list(unused))", next) }
    return .ok(
      slots.isEmpty ? "there is none" : "\(Readable.count(slots.count, "slot")), all in use")
  }

  private static let archive = DoctorCheck("WAL archive") { patient in
    let (mode, failed, segment) = try patient.connection.row(
      """
      select current_setting('archive_mode'),
             coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false), last_failed_wal
        from pg_stat_archiver
      """, as: (String, Bool, String?).self)
    guard mode != "off" else {
      return .ok("off: backups are those of pg_dump or pg_basebackup alone")
    }
    return failed
      ? .problem(
        "the last attempt failed, to archive \(segment ?? "a segment"): WAL stays on the disk",
        "The server's log has the error of archive_command. Point-in-time recovery ends before that segment."
      )
      : .ok("works")
  }

  private static let notificationQueue = DoctorCheck("notification queue") { patient in
    let usage = try patient.connection.row("select pg_notification_queue_usage()", as: Double.self)
    let found = "\(Readable.decimal(usage * 100, places: 1)) % full"
    guard usage >= NotificationQueue.standardLimit else { return .ok(found) }
    let suspects = try NotificationQueue.suspects(over: patient.connection)
      .map { LockWaitText.words(for: $0) }
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
        "Find it in pg_prepared_xacts, and end it with \"commit prepared\" or \"rollback prepared\"."
      )
      : .ok(found)
  }
}
