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

  /// Settings with which data may be lost, the server slows down over time, or programs cannot write: those of the
  /// server, and those of the database and of roles that write.
  private static let settings = DoctorCheck("settings") { patient in
    let wrong = try patient.connection.rows(
      """
      with w (name, value, harm) as (
        values ('fsync', 'on', 'a crash of the machine may destroy the database'),
               ('full_page_writes', 'on', 'a crash of the machine may destroy the database'),
               ('zero_damaged_pages', 'off', 'damaged pages are silently emptied'),
               ('autovacuum', 'on', 'tables grow, and the server stops before transaction ids are used up'),
               ('track_counts', 'on', 'autovacuum does not see which tables need it'),
               ('default_transaction_read_only', 'off', 'quake-ingest run, named watchers and SQL cannot write')
      ), stored (name, value, target) as (
        select split_part(c.entry, '=', 1), split_part(c.entry, '=', 2),
               case when s.setrole = 0 and s.setdatabase = 0 then 'role all'
                    when s.setrole = 0 then format('database %I', current_database())
                    else format('role %I', r.rolname)
                         || case when s.setdatabase <> 0 then format(' in database %I', current_database()) else '' end
               end
          from pg_db_role_setting s cross join unnest(s.setconfig) c (entry) left join pg_roles r on r.oid = s.setrole
         where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
           -- Roles that only read may be kept from writing on purpose, and so may other superusers.
           and (s.setrole = 0 or (r.rolname = session_user or not r.rolsuper) and exists (
                  select from pg_class t
                   where t.relnamespace = to_regnamespace('quake') and t.relkind in ('r', 'p')
                     and (has_any_column_privilege(r.oid, t.oid, 'insert, update')
                          or has_table_privilege(r.oid, t.oid, 'delete'))))
      )
      select format('%s is %s: %s', name, s.setting, w.harm),
             case s.source when 'client' then 'Remove it from the URL of this connection, or from PGOPTIONS.'
                           when 'command line' then 'Start the server without it.'
                           else format('Run "alter system set %s = %s" and "select pg_reload_conf()".', name, w.value)
             end
        from w join pg_settings s using (name)
       where s.setting <> w.value and s.source not in ('global', 'database', 'user', 'database user')
      union all
      select format('%s is %s for %s: %s', name, d.value, d.target, w.harm),
             -- A session that is itself read-only refuses a bare ALTER.
             format('Run "begin read write; alter %s reset %s; commit"%s, and restart its programs.',
                    d.target, name, \(patient.there)::text)
        from w join stored d using (name)
       -- Only the values of these names are Boolean.
       where case when d.name = w.name then d.value::boolean <> w.value::boolean end
       order by 1
      """, as: (String, String).self)
    guard !wrong.isEmpty else { return .ok("as recommended") }
    return .problem(
      wrong.map(\.0).joined(separator: "; "), wrong.map(\.1).joined(separator: " "))
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
               -- Since version 16.
               - coalesce(current_setting('reserved_connections', true)::int8, 0)
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
      select inet_client_addr() is null or inet_client_addr() << '127.0.0.0/8' or inet_client_addr() = '::1'
               or inet_client_addr() = inet_server_addr(),
             (select version from pg_stat_ssl where pid = pg_backend_pid() and ssl)
      """, as: (Bool, String?).self)
    let next =
      "Add sslmode=verify-full and sslrootcert to the URL, and have pg_hba.conf ask for hostssl."
    let others = try patient.connection.row(
      """
      select count(*) from pg_stat_ssl s join pg_stat_activity a using (pid)
       where not s.ssl and a.datname = current_database()
         and a.client_addr is not null and not a.client_addr << '127.0.0.0/8' and a.client_addr <> '::1'
         and a.client_addr is distinct from inet_server_addr()
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
        patient.isStandby
          ? "The clocks of this standby and of its primary differ: let NTP keep both."
          : """
          The server's clock was set back: let NTP keep it. Times in the history are right again after that moment.
          """)
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
