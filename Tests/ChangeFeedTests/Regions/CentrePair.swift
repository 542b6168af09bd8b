import EmbeddedPostgres
import Glibc
import Postgres
import QuakeSchema
import TestSupport

/// A centre of two servers of PostgreSQL 17 or later: a primary, and a synchronous standby that has the failover slots of
/// the regions.
///
/// Used from one thread.
final class CentrePair {
  private(set) var primary: EmbeddedServer
  private(set) var standby: EmbeddedServer
  /// The database on whichever of both is the primary.
  let conninfo: String
  private let folder: TemporaryFolder

  /// - Parameter binDirectory: The programs of PostgreSQL.
  init(binDirectory: String) throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    func server(_ name: String, of other: String) throws -> EmbeddedServer {
      var options = EmbeddedServer.Options(home: "\(folder.path)/\(name)")
      options.binDirectory = binDirectory
      options.settings = [
        "fsync": "off", "shared_buffers": "64MB", "deadlock_timeout": "50ms",
        "max_replication_slots": "20", "max_wal_senders": "20",
        "wal_retrieve_retry_interval": "200ms",
        // As docs/regions.md demands of the servers of a centre.
        "sync_replication_slots": "on", "hot_standby_feedback": "on",
        "primary_slot_name": "pair", "synchronized_standby_slots": "pair",
        "primary_conninfo":
          "host=\(folder.path)/\(other)/socket port=5432 dbname=quake user=quake application_name=pair",
      ]
      return try EmbeddedServer(options)
    }
    primary = try server("a", of: "b")
    standby = try server("b", of: "a")
    conninfo = """
      host=\(folder.path)/a/socket,\(folder.path)/b/socket port=5432 dbname=quake user=quake \
      target_session_attrs=read-write
      """
    try primary.start()
    let connection = try connect()
    _ = try Migrator(connection: connection, program: "tests").migrate()
    // In a file, because pg_rewind starts the server without the settings above, and needs the WAL that this keeps.
    try connection.run(
      "alter system set wal_level = logical", "alter system set wal_log_hints = on",
      "alter system set wal_keep_size = '1GB'")
    try shell("echo 'local replication all trust' >> '\(primary.options.home)/data/pg_hba.conf'")
    try primary.stop()
    try primary.start()
    try connect().run("select pg_create_physical_replication_slot('pair')")
    try rebuildStandby(rewinds: false)
    for server in [primary, standby] {
      try server.connect().run(
        "alter system set synchronous_standby_names = 'pair'", "select pg_reload_conf()")
    }
    try waitForStandby(slots: 0)
  }

  deinit {
    for server in [standby, primary] { _ = try? server.stop(mode: .immediate) }
  }

  /// A connection to the primary.
  func connect() throws -> Connection { try primary.connect() }

  /// Waits until the standby is synchronous and has a usable copy of so many slots, without which a failover would lose
  /// them.
  func waitForStandby(slots: Int) throws {
    let (here, there) = (try connect(), try standby.connect())
    do {
      try eventually("the standby is synchronous and has \(slots) slots", within: .seconds(300)) {
        // A new slot needs WAL from before the copy, until the centre has written more, which may take it a while.
        try here.run("select pg_log_standby_snapshot()")
        return try here.ask("select count(*) from pg_stat_replication where sync_state = 'sync'")
          == "1"
          && there.ask(
            """
            select count(*) from pg_replication_slots
             where synced and failover and not temporary and invalidation_reason is null
            """) == "\(slots)"
      }
    } catch {
      let state = """
        select string_agg(s::text, E'\\n') from (select slot_name, active, temporary, synced, xmin, catalog_xmin,
          restart_lsn, confirmed_flush_lsn, invalidation_reason from pg_replication_slots) s
        """
      let senders = "select string_agg(r::text, E'\\n') from pg_stat_replication r"
      throw ToolProcess.Failure(
        description: """
          \(error)
          primary: \(try here.ask(state) ?? "")
          \(try here.ask(senders) ?? "")
          standby: \(try there.ask(state) ?? "")
          """)
    }
  }

  /// Kills the primary, promotes the standby, and makes the old primary its standby.
  ///
  /// - Parameter rewinds: Whether by pg_rewind; otherwise by pg_basebackup.
  func failOver(slots: Int, rewinds: Bool) throws {
    try waitForStandby(slots: slots)
    try primary.killAll()
    (primary, standby) = (standby, primary)
    let connection = try connect()
    try connection.run(
      "select pg_promote(true, 300)", "select pg_create_physical_replication_slot('pair')",
      "checkpoint")
    try rebuildStandby(rewinds: rewinds)
    try waitForStandby(slots: slots)
  }

  /// Starts the standby with the data of the primary.
  private func rebuildStandby(rewinds: Bool) throws {
    let (home, programs) = (standby.options.home, try primary.binDirectory)
    let rebuild =
      rewinds
      ? "pg_rewind' --no-sync --target-pgdata='\(home)/data' --source-server='\(primary.conninfo)'"
      : "pg_basebackup' --no-sync --checkpoint=fast --pgdata='\(home)/data' -d '\(primary.conninfo)'"
    try shell(
      """
      owner=$(stat -c %U '\(primary.options.home)')
      as() { if [ "$(id -u)" = 0 ]; then runuser -u "$owner" -- "$@"; else "$@"; fi; }
      install -d -m 0700 -o "$owner" '\(home)'
      \(rewinds ? "" : "rm -rf '\(home)/data'")
      as '\(programs)/\(rebuild)
      as touch '\(home)/data/standby.signal'
      """)
    try standby.start()
  }

  private func shell(_ script: String) throws {
    let outcome = try Tools.startShell(script, folder: folder.path).exit(within: .seconds(600))
    guard outcome.status == 0 else {
      throw ToolProcess.Failure(description: "\(script)\n\(outcome.output)\(outcome.errors)")
    }
  }
}
