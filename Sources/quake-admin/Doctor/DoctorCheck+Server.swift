import Basics
import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeSchema
import QuakeTool
import QuakeWorker

/// The server and the way to it.
extension DoctorCheck {
  static let server = [
    version, settings, extensions, connections, pooler, tls, clock, disk,
  ]

  private static let version = DoctorCheck("version") { patient in
    let number = patient.connection.serverVersion / 10_000
    let version = try patient.connection.row(
      "select split_part(current_setting('server_version'), ' ', 1)", as: String.self)
    let found = "PostgreSQL \(version)"
    return switch number {
    case ..<13:
      .problem("\(found) lacks functions that Quake uses", "Upgrade to version 15 or later.")
    case 13, 14:
      .warning("Quake is not tested with \(found)", "Upgrade to version 15 or later.")
    default: .ok(found)
    }
  }

  /// Settings of the server with which data may be lost or the server slows down over time.
  private static let settings = DoctorCheck("settings") { patient in
    let wrong = try patient.connection.rows(
      """
      select name, setting, w.harm, w.is_loss
        from (values ('fsync', 'on', 'a crash of the machine may destroy the database', true),
                     ('full_page_writes', 'on', 'a crash of the machine may destroy the database', true),
                     ('zero_damaged_pages', 'off', 'damaged pages are silently emptied', true),
                     ('autovacuum', 'on', 'tables grow, and the server stops before transaction ids are used up',
                      true),
                     ('track_counts', 'on', 'autovacuum does not see which tables need it', true),
                     ('max_prepared_transactions', '0', 'a forgotten prepared transaction keeps its locks', false),
                     ('server_encoding', 'UTF8', 'texts of feeds cannot be stored', true)) w (name, value, harm, is_loss)
        join pg_settings s using (name)
       where s.setting <> w.value
       order by w.is_loss desc, name
      """, as: (String, String, String, Bool).self)
    guard !wrong.isEmpty else { return .ok("as recommended") }
    let found = wrong.map { "\($0.0) is \($0.1): \($0.2)" }.joined(separator: "; ")
    let next = """
      Change \(wrong.map(\.0).joined(separator: ", ")) with "alter system", and reload or restart the server. A \
      database of another encoding must be made anew.
      """
    return wrong.contains { $0.3 } ? .problem(found, next) : .warning(found, next)
  }

  /// Quake needs none, but an upgrade of the server leaves old ones behind.
  private static let extensions = DoctorCheck("extensions") { patient in
    let old = try patient.connection.rows(
      """
      select format('%I', name) from pg_available_extensions
       where installed_version <> default_version order by name
      """, as: String.self)
    guard !old.isEmpty else { return .ok("none is older than the server's programs") }
    return .warning(
      "older than the server's programs: \(Patient.list(old))",
      "Run \"alter extension \(old[0]) update\" in this database"
        + (old.count > 1 ? ", and the same for the others." : "."))
  }

  private static let connections = DoctorCheck("connections") { patient in
    let (used, most) = try patient.connection.row(
      """
      select (select count(*) from pg_stat_activity where datid is not null and usesysid is not null)::int8,
             current_setting('max_connections')::int8 - current_setting('superuser_reserved_connections')::int8
      """, as: (Int64, Int64).self)
    let found = "\(used) of \(most) in use"
    return used * 10 >= most * 9
      ? .warning(
        found,
        "Raise max_connections, or let clients read from one quake-serve instead of a connection each."
      )
      : .ok(found)
  }

  private static let pooler = DoctorCheck("pooler") { patient in
    switch try SessionKind.of(patient.connection, another: patient.another) {
    case .pooled:
      .warning(
        "a pooler in transaction mode is in between: no notifications arrive, and quake-ingest run ends with status 77",
        "Connect the worker directly or in session mode; watchers poll each second here.")
    case .standby: .ok("not examined on a standby, where sessions hold nothing")
    case .direct: .ok("none in transaction mode")
    }
  }

  private static let tls = DoctorCheck("TLS") { patient in
    let (isLocal, protocolVersion) = try patient.connection.row(
      """
      select inet_client_addr() is null or inet_client_addr() << '127.0.0.0/8' or inet_client_addr() = '::1',
             (select version from pg_stat_ssl where pid = pg_backend_pid() and ssl)
      """, as: (Bool, String?).self)
    let next =
      "Add sslmode=verify-full and sslrootcert to the URL, and have pg_hba.conf ask for hostssl."
    let others = try patient.connection.row(
      """
      select count(*) from pg_stat_ssl s join pg_stat_activity a using (pid)
       where not s.ssl and a.datname = current_database()
         and a.client_addr is not null and not a.client_addr << '127.0.0.0/8' and a.client_addr <> '::1'
         and a.pid <> pg_backend_pid()
      """, as: Int.self)
    guard isLocal || protocolVersion != nil else {
      return .problem("this connection from another machine is not encrypted", next)
    }
    guard try patient.seesSessions() else {
      return .unseen("whether the sessions of other machines are encrypted", seeing(patient))
    }
    guard others == 0 else {
      return .warning(
        "\(Readable.count(others, "session")) of other machines \(others == 1 ? "is" : "are") not encrypted",
        next)
    }
    return .ok(protocolVersion ?? "not needed: the connection does not leave the machine")
  }

  private static let clock = DoctorCheck("clock") { patient in
    let begun = Timestamp.now()
    let server = try patient.connection.row(
      "select (extract(epoch from clock_timestamp()) * 1000000)::int8", as: Int64.self)
    let ended = Timestamp.now()
    if let newest = patient.store?.newest, let now = patient.store?.time,
      newest.at.microseconds - now.microseconds > 2_000_000
    {
      return .problem(
        "the newest token \(newest.token) was assigned in the future, at \(newest.at.text)",
        "The server's clock was set back: let NTP keep it. Times in the history are right again after that moment."
      )
    }
    // The answer was given at some moment between the two readings.
    let ahead = server - ended.microseconds
    let behind = begun.microseconds - server
    let off = Duration.microseconds(max(ahead, behind, 0))
    let next = "Let NTP keep the clocks of both machines: \"timedatectl status\"."
    let found = "\(Readable.duration(off)) apart from that of the server"
    return off > .seconds(60)
      ? .problem(found, next) : off > .seconds(2) ? .warning(found, next) : .ok("as the server's")
  }

  /// A connection does not show how much room a disk has; on the same machine the file system does.
  private static let disk = DoctorCheck("disk") { patient in
    guard let disk = try ServerFigures.disk(over: patient.connection) else {
      return .unseen(
        "how full the server's disk is",
        """
        Run this command on the server's machine, over its Unix socket, as \(patient.roles.name(.monitor)) or a \
        superuser; or watch the disk with node_exporter.
        """)
    }
    let (free, share) = (disk.freeBytes, disk.freeShare)
    let percent = Readable.decimal(share * 100, places: 0)
    let found = "\(Readable.bytes(Int(free))) free (\(percent) %) at \(disk.folder)"
    let next =
      "Make room, or purge the history: \"quake-admin status --verbose\" lists the sizes of the tables."
    return free < 1e9 || share < 0.03
      ? .problem(found, next) : share < 0.1 ? .warning(found, next) : .ok(found)
  }
}
