import Basics
import CommandLine
import EmbeddedPostgres
import Glibc
import Postgres
import QuakeModel
import QuakeSchema
import QuakeTool

/// The PostgreSQL that everything is measured on, with the embedded server's settings.
final class BenchServer {
  private let server: EmbeddedServer
  /// A connection for measuring and creating databases, which is in none of the measured ones.
  private let admin: Connection
  let processes: ServerProcesses

  /// Starts a server in `home`.
  init(home: String) throws {
    var options = EmbeddedServer.Options(home: home)
    options.binDirectory = Environment.value("QUAKE_PG_BIN")
    options.account = Environment.value("QUAKE_SERVER_USER")
    // The many watchers of the latency workload need this.
    options.settings = ["max_connections": "600"]
    server = try EmbeddedServer(options)
    try server.start()
    admin = try Connection(ConnectionSettings(server.conninfo, applicationName: "quake-bench"))
    guard let pid = try server.status().pid else {
      throw BenchFailure("the server has no process id")
    }
    processes = ServerProcesses(postmaster: pid)
  }

  /// The path of the server's psql.
  var psqlPath: String {
    get throws { try server.psqlPath }
  }

  /// Stops the server, whose data is no longer needed.
  func stop() {
    _ = try? server.stop(mode: .immediate)
  }

  /// The connection string of a database.
  func conninfo(_ database: String) -> String {
    // libpq takes the later of two equal keywords.
    server.conninfo + " dbname=\(database)"
  }

  func connect(_ database: String) throws -> Connection {
    try Connection(ConnectionSettings(conninfo(database), applicationName: "quake-bench"))
  }

  /// Creates a database that is empty, or a copy of another.
  func create(_ database: String, from template: String) throws {
    // Copying the files writes hardly any write-ahead log, and ends with a checkpoint.
    let strategy = admin.serverVersion >= 150_000 ? "strategy file_copy" : ""
    try admin.execute(
      SQL(trusted: "create database \(database) template \(template) \(strategy)"))
  }

  func drop(_ database: String) throws {
    try admin.execute(SQL(trusted: "drop database if exists \(database) with (force)"))
  }

  /// Waits until no client is connected to a database: a session may end a moment after its client.
  func waitUntilLeft(_ database: String) throws {
    let deadline = Deadline(after: .seconds(60))
    while try admin.row(
      """
      select exists (select from pg_stat_activity
                      where datname = \(database) and backend_type = 'client backend')
      """, as: Bool.self)
    {
      guard !deadline.hasPassed else {
        throw BenchFailure("database \"\(database)\" is still in use")
      }
      poll(nil, 0, 2)
    }
  }

  /// Writes earlier changes to disk, so that they are not written during a measurement.
  func checkpoint() throws {
    try admin.execute("checkpoint")
  }

  /// Where the write-ahead log ends, as text.
  func walPosition() throws -> String {
    try admin.row("select pg_current_wal_insert_lsn()", as: String.self)
  }

  /// Bytes of write-ahead log since a position.
  func wal(since position: String) throws -> Int {
    try admin.row(
      "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), \(position)::pg_lsn)::bigint",
      as: Int.self)
  }

  /// The settings that matter to speed.
  func settings() throws -> [(name: String, value: String)] {
    try admin.rows(
      """
      select name, current_setting(name) from pg_settings
       where name in ('shared_buffers', 'work_mem', 'maintenance_work_mem', 'fsync', 'synchronous_commit',
                      'full_page_writes', 'data_checksums', 'wal_level', 'max_wal_size', 'checkpoint_timeout', 'wal_buffers',
                      'max_connections', 'jit', 'autovacuum')
       order by name
      """, as: (String, String).self
    ).map { (name: $0, value: $1) }
  }

  /// Such as `15.18`.
  func version() throws -> String {
    let text = try admin.row("show server_version", as: String.self)
    return String(text.prefix { $0 != " " })
  }
}

/// The databases that runs start with. Each is filled once, by the contender itself, and copied.
final class Databases {
  private let server: BenchServer
  private var made: [State: String] = [:]

  private struct State: Hashable {
    var table: Contender.Table
    /// The name of the file that has been loaded; nil: none.
    var loaded: String?
  }

  init(_ server: BenchServer) {
    self.server = server
  }

  /// The database whose copies a contender's runs start with.
  ///
  /// - Parameter before: What has been loaded already; nil: nothing.
  func template(
    for contender: Contender, before: DataFile?, _ bench: Bench
  ) throws -> String {
    let state = State(table: contender.table, loaded: before?.name)
    if let name = made[state] { return name }
    let origin = before == nil ? "template0" : try template(for: contender, before: nil, bench)
    let name = "state_\(made.count + 1)"
    try server.create(name, from: origin)
    if let before {
      bench.diagnostics.note("preparing what \(contender.name) starts from")
      _ = try Measurement(of: contender.command(before, name, bench), in: bench.folder)
      try server.waitUntilLeft(name)
    }
    do {
      let connection = try server.connect(name)
      if let before {
        try contender.check(before, before: nil, over: connection)
        // As autovacuum leaves a store.
        try connection.execute("vacuum (analyze)")
      } else {
        _ = try Migrator(connection: connection, program: "quake-bench \(productVersion)").migrate()
        if contender.table == .plain {
          try connection.execute(
            """
            create table public.plain
              (like quake.quake including defaults including constraints including indexes)
            """)
        }
      }
    }
    try server.waitUntilLeft(name)
    made[state] = name
    return name
  }
}
