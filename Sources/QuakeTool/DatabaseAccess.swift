package import Basics
package import CommandLine
package import EmbeddedPostgres
package import Postgres
package import QuakeSchema
internal import Synchronization

/// Finds a tool's database: `--database`, else `DATABASE_URL`, else libpq's `PG*` variables, else the key `database`
/// of the user's or the system's configuration file, else the embedded server, which is started if it does not run.
/// Only commands that bring data, or that are there to make a database, create it: with a new and empty one, a query
/// would answer with nothing.
package struct DatabaseAccess {
  package static let option = Option.value(
    "database", short: "d", "URL",
    help: """
      the database, as a URL or keyword=value pairs; by default $DATABASE_URL, then libpq's PG* \
      variables, then that of ~/.config/quake/config or /etc/quake/config, then the embedded server
      """)

  package static let environment: [Command.Variable] = [
    .init("DATABASE_URL", "the database, if --database is not given"),
    .init("PGHOST, PGDATABASE, PGSERVICE, ...", "libpq's variables, used if neither is given"),
    .init(
      "XDG_CONFIG_HOME", "folder of quake/config, the user's settings; by default ~/.config"),
    .init("QUAKE_SYSTEM_CONFIG", "the system's settings; by default /etc/quake/config"),
    .init("QUAKE_TIME_ZONE", "time zone of text for people, such as Europe/Berlin; by default UTC"),
    .init("QUAKE_PG_BIN", "folder of the PostgreSQL programs that the embedded server uses"),
    .init("QUAKE_SERVER_HOME", "folder of the embedded server; by default in XDG_DATA_HOME"),
    .init(
      "QUAKE_SERVER_USER",
      "account that the embedded server runs as if root starts it; by default postgres"),
    .init("NO_COLOR", "no colour if this is set, unless --color is given"),
    .init("CLICOLOR_FORCE", "colour also in pipes and files if this is set, and NO_COLOR is not"),
  ]

  private static let libpqVariables = [
    "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE", "PGSERVICEFILE",
  ]

  package private(set) var settings: ConnectionSettings
  /// The embedded server, if it holds the database; else nil.
  package let embedded: EmbeddedServer?
  /// Whether to create the embedded server if there is none.
  private let creates: Bool
  private let diagnostics: Diagnostics
  /// The entry of a configuration file that names the database; nil if an option or a variable does.
  private var setting: Setting?

  /// Finds the database that the arguments and the environment name, without connecting to it.
  ///
  /// - Parameters:
  ///   - creates: Whether `connect` creates the embedded server if that is the database and there is none.
  ///   - reconnects: Whether the program goes on over other connections after a loss, and must not go back to a primary
  ///     from before a failover then.
  package init(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics, creates: Bool = false,
    reconnects: Bool = false
  ) throws {
    self.creates = creates
    self.diagnostics = diagnostics
    let tool = diagnostics.tool
    if let named = arguments.string("database") {
      embedded = nil
      settings = ConnectionSettings(named, applicationName: tool)
      if named.contains("@") || named.contains("password") { ProcessArguments.hide(named) }
    } else if let named = Environment.value("DATABASE_URL"), !named.isEmpty {
      embedded = nil
      settings = ConnectionSettings(named, applicationName: tool)
    } else if Self.libpqVariables.contains(where: {
      Environment.value($0)?.isEmpty == false
    }) {
      embedded = nil
      settings = ConnectionSettings("", applicationName: tool)
    } else if let configured = UserConfiguration.current.database {
      setting = configured
      embedded = nil
      settings = ConnectionSettings(configured.value, applicationName: tool)
    } else {
      let server = try Self.embeddedServer()
      embedded = server
      Self.used.withLock { $0 = server }
      settings = ConnectionSettings(server.conninfo, applicationName: tool)
    }
    if reconnects {
      settings.timelines = SeenTimelines {
        diagnostics.warning($0.message, detail: $0.detail, hint: $0.hint)
      }
    }
    do throws(PostgresError) {
      try settings.check()
    } catch {
      let named = arguments.string("database")
      guard
        let place = named.flatMap({ arguments.place(of: $0, for: "database") }) ?? setting?.place
      else { throw error }
      throw PostgresError(
        kind: error.kind, message: "\(place): key 'database': \(error.message)", hint: error.hint)
    }
  }

  /// The embedded server that this program uses; nil if it uses none.
  private static let used = Mutex<EmbeddedServer?>(nil)

  /// The error for a full disk under the embedded server, if that is why a statement or a connection failed.
  static func fullDisk(after error: PostgresError) -> EmbeddedServerError? {
    let isCertain = error.sqlState == SQLState.diskFull
    guard isCertain || error.kind == .connection else { return nil }
    return used.withLock { $0 }?.fullDisk(error.message, isCertain: isCertain)
  }

  /// The embedded server in the folder that the environment names.
  package static func embeddedServer() throws -> EmbeddedServer {
    try EmbeddedServer(.fromEnvironment { Environment.value($0) })
  }

  /// Connects; starts the embedded server first, if it is the database and does not run.
  ///
  /// - Parameter migrates: Whether to apply pending migrations. By default only those of the embedded
  ///   database, which belongs to the tools; any other is migrated only on request.
  package func connect(wake: Int32? = nil, migrates: Bool? = nil) throws -> Connection {
    if let embedded { try start(embedded) }
    let connection = try connectWhenReady(wake: wake)
    if migrates ?? (embedded != nil) { try migrate(connection) }
    return connection
  }

  /// Connects to the store: like `connect`, and checks that the schema is the one of this program.
  ///
  /// - Parameter answerTimeout: See `Connection.answerTimeout`.
  package func connectToStore(
    answerTimeout: Duration? = nil, wake: Int32? = nil, migrates: Bool? = nil
  ) throws -> Connection {
    let connection = try connect(wake: wake, migrates: migrates)
    connection.answerTimeout = answerTimeout
    try checkSchema(of: connection)
    return connection
  }

  /// Connects without starting a server or changing the schema: for commands that only read.
  package func connectAsItIs() throws -> Connection {
    if let embedded, try !embedded.status().running {
      guard embedded.exists else { throw NoDatabase(home: embedded.options.home) }
      throw PostgresError(
        kind: .connection,
        message: "could not connect to the database: the embedded server in"
          + " \(embedded.options.home) does not run",
        hint: """
          "quake-admin server start" starts it. To use another database, set --database or \
          DATABASE_URL.
          """)
    }
    return try open()
  }

  /// Opens another connection to the database and reports its waits for locks; see `LockWaits`.
  package func open(wake: Int32? = nil) throws(PostgresError) -> Connection {
    let connection: Connection
    do throws(PostgresError) {
      connection = try Connection(settings, wake: wake)
    } catch {
      guard let setting, error.kind == .connection, error.hint == nil else { throw error }
      throw PostgresError(
        kind: error.kind, sqlState: error.sqlState, message: error.message, detail: error.detail,
        hint: "\(setting.place) names this database; --database or DATABASE_URL name another one.")
    }
    LockWaits(settings, diagnostics).lookAfter(connection)
    return connection
  }

  /// Connects again after a connection was lost. The embedded server is restarted if it crashed, but not if a
  /// user stopped it.
  package func reconnect(wake: Int32? = nil) throws -> Connection {
    if let embedded, embedded.hasCrashed { try start(embedded) }
    return try open(wake: wake)
  }

  /// Retries while the embedded server restarts itself after one of its processes crashed: it refuses
  /// connections for a moment.
  private func connectWhenReady(wake: Int32?) throws -> Connection {
    let deadline = Deadline(after: .seconds(embedded == nil ? 0 : 10))
    var backoff = Backoff()
    while true {
      do throws(PostgresError) {
        return try open(wake: wake)
      } catch {
        guard error.kind == .connection, !deadline.hasPassed, !Signals.stopRequested else {
          throw error
        }
        _ = Signals.wait(timeout: backoff.next())
      }
    }
  }

  private func migrate(_ connection: Connection) throws {
    let progress = MigrationProgress(diagnostics)
    let applied = try migrator(over: connection).migrate {
      progress.report($0)
      if case .applied(let entry) = $0 {
        diagnostics.note("applied migration \(entry.version) (\(entry.name))")
      }
    }
    if !applied.isEmpty { try grantAfterMigrations(over: connection) }
    LockWaits(settings, diagnostics).lookAfter(connection)
  }

  /// Grants the role that reads from an embedded server over its port what it needs after migrations, because nobody
  /// runs "quake-admin roles create" there.
  package func grantAfterMigrations(over connection: Connection) throws {
    guard embedded?.listening != nil, let names = RoleNames() else { return }
    var options = RoleMaker.Options()
    options.onlyGrants = true
    _ = try RoleMaker(names, options, over: connection).make()
  }

  /// Checks the schema, and reports once if it is newer than this program, which goes on.
  package func checkSchema(of connection: Connection) throws {
    try Migrator.checkSchema(of: connection) { [diagnostics] in
      diagnostics.warning($0.message, hint: NewerSchema.hint)
    }
  }

  package func migrator(over connection: Connection) throws -> Migrator {
    let waits = LockWaits(settings, diagnostics, first: .milliseconds(200))
    waits.lookAfter(connection)
    return try Migrator(
      connection: connection, program: Build.program(diagnostics.tool),
      patience: .migrating(wake: Signals.wakeDescriptor, lastWait: { waits.lastWait }))
  }

  private func start(_ server: EmbeddedServer) throws {
    guard try startIfNeeded(server) != .alreadyRunning else { return }
    diagnostics.note(
      """
      started a private PostgreSQL in \(server.options.home); stop it with "quake-admin \
      server stop"
      """)
  }

  private func startIfNeeded(_ server: EmbeddedServer) throws -> EmbeddedServer.Outcome {
    do throws(EmbeddedServerError) {
      return try server.startIfNeeded(creates: creates, progress: { report($0, of: server) })
    } catch {
      guard error.kind == .absent else { throw error }
      throw NoDatabase(home: server.options.home)
    }
  }

  private func report(_ phase: EmbeddedServer.Phase, of server: EmbeddedServer) {
    switch phase {
    case .waitingForLock: diagnostics.note("waiting for another program to start the server")
    case .initialising: diagnostics.note("creating a private PostgreSQL in \(server.options.home)")
    case .starting: break
    case .recovering: diagnostics.note("the server is recovering from a crash")
    case .portInUse(let port): Self.portInUse(port, diagnostics)
    }
  }

  /// Warns that the embedded server was started without its TCP port.
  package static func portInUse(_ port: Int, _ diagnostics: Diagnostics) {
    diagnostics.warning(
      "port \(port) of 127.0.0.1 is in use, so the embedded server only listens on its Unix socket",
      hint: """
        "quake-admin server start --listen PORT" names another port, and "--no-listen" ends this warning.
        """)
  }
}

/// No database is named, and the embedded server has not been created by a command that may.
package struct NoDatabase: ExplainedError {
  /// The folder in which the embedded server would be.
  package let home: String

  package init(home: String) { self.home = home }

  /// Says that there is no database, and names two ways to get one.
  package var message: String { "no database here yet: run `quake-ingest run`, or give `-d`" }

  package var detail: String? {
    "No database is named, and \"\(home)\" has no embedded server. Each Unix account has its own."
  }

  package var hint: String? {
    "\"quake-ingest import FILE\" and \"quake-admin server start\" create it, too."
  }

  package var category: ErrorCategory { .unavailable }
}

/// Reports how far a migration in batches is, every few seconds.
package final class MigrationProgress {
  private let diagnostics: Diagnostics
  private var next = Deadline(after: interval)

  private static let interval = Duration.seconds(5)

  package init(_ diagnostics: Diagnostics) { self.diagnostics = diagnostics }

  package func report(_ step: Migrator.Step) {
    guard case .filled(let entry, let rows) = step, next.hasPassed else { return }
    diagnostics.note(
      "migration \(entry.version) (\(entry.name)): \(Readable.count(rows, "row")) so far")
    next = Deadline(after: Self.interval)
  }
}
