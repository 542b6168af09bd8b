import Basics
import CommandLine
import EmbeddedPostgres
import Postgres
import QuakeModel
import QuakeSchema
import QuakeTool

enum ServerCommand {
  static let table = Command(
    "server", purpose: "start, stop and inspect the embedded server",
    discussion: """
      The embedded server is a private PostgreSQL that every tool uses when no other database is \
      named. It listens on a Unix socket only, unless "start --listen" opens TCP on the loopback address.
      """,
    subcommands: [
      Command(
        "start", purpose: "start the embedded server; create it first if there is none",
        discussion: """
          With --listen, the server also listens on a port of 127.0.0.1, for programs such as Grafana and \
          QGIS, until --no-listen. Only the role quake_reader may connect there, which can change no event; \
          the command generates its password and stores it in a file. It restarts a running server: \
          watchers and workers connect again.
          """,
        options: [
          .optionalValue(
            "listen", "PORT",
            help:
              "listen on this port of 127.0.0.1 from now on; by default \(EmbeddedServer.standardPort)"
          ),
          .flag("no-listen", help: "listen on the Unix socket only from now on"),
        ]),
      Command("stop", purpose: "stop the embedded server"),
      Command("status", purpose: "report whether the embedded server runs, and its folders"),
      Command(
        "url", purpose: "print a URL with which other programs reach the embedded server",
        discussion: """
          If the server listens on a port of 127.0.0.1, the URL is that of the role quake_reader; otherwise \
          it is that of the Unix socket, which only this account can use.
          """,
        options: [
          .flag("with-password", help: "with the password, if the server listens on a port")
            .onCommandLineOnly()
        ]),
      Command(
        "psql", purpose: "open psql on the embedded server",
        positionals: [
          .init("ARGUMENT", .passedThrough, completion: .files, help: "passed to psql unchanged")
        ]),
    ],
    examples: [
      .init("quake-admin server psql -c 'table quake.import'", "run a query"),
      .init(
        "quake-admin server start --listen", "open TCP on 127.0.0.1 for Grafana, QGIS and pandas"),
      .init("quake-admin server stop", "stop the server"),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    guard !arguments.isTyped("database") else {
      throw arguments.usageError("option --database names another server than the embedded one")
    }
    let server = try DatabaseAccess.embeddedServer()
    switch arguments.subcommand.last {
    case "start": return try start(server, arguments, diagnostics)
    case "stop": return try stop(server, diagnostics)
    case "status": return try status(server)
    case "url": return try url(server, arguments, diagnostics)
    default:
      do throws(EmbeddedServerError) {
        try server.startIfNeeded(creates: false)
      } catch {
        guard error.kind == .absent else { throw error }
        throw NoDatabase(home: server.options.home)
      }
      let psql = try server.psqlPath
      Signals.restoreDefaults()
      try ChildProcess.replaceProcess(psql, [server.conninfo] + arguments.positionals)
    }
  }

  private static func start(
    _ server: EmbeddedServer, _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    try arguments.requireAtMostOne(of: "listen", "no-listen")
    var port: Int?
    if arguments.isGiven("listen") {
      port =
        try arguments.integer("listen", in: 1024...65_535)
        ?? server.listening?.port ?? EmbeddedServer.standardPort
    }
    var outcome = try start(server, diagnostics)
    if let port {
      if try ListeningServer(server, diagnostics).open(port) { outcome = .started }
    } else if arguments.flag("no-listen"), server.listening != nil {
      try ListeningServer(server, diagnostics).close()
      outcome = .started
    }
    let verb = outcome == .alreadyRunning ? "is running" : "was started"
    var text = PrintableText.line("the embedded server \(verb) in \(server.options.home)") + "\n"
    if let listening = server.listening, server.isListening {
      text +=
        PrintableText.line(
          "it listens on 127.0.0.1:\(listening.port) for role \(listening.role), whose password is in \(server.passwordFile)"
        ) + "\n"
    }
    return try say(diagnostics.verbosity > .quiet ? text : "")
  }

  private static func start(
    _ server: EmbeddedServer, _ diagnostics: Diagnostics
  ) throws -> EmbeddedServer.Outcome {
    try server.startIfNeeded { phase in
      switch phase {
      case .initialising:
        diagnostics.note("creating the embedded server in \(server.options.home)")
      case .portInUse(let port): DatabaseAccess.portInUse(port, diagnostics)
      default: break
      }
    }
  }

  private static func url(
    _ server: EmbeddedServer, _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let status = try server.status()
    guard status.version != nil else {
      throw EmbeddedServerError(
        .unavailable, "there is no embedded server in \(server.options.home) yet",
        hint: "\"quake-admin server start\" creates it.")
    }
    if !status.running {
      diagnostics.warning(
        "the embedded server does not run", hint: "\"quake-admin server start\" starts it.")
    }
    guard let listening = server.listening else {
      let folder = PercentEncoding.text(status.socketDirectory, keeping: [UInt8(ascii: "/")])
      return try say("postgresql://quake@/quake?host=\(folder)&port=5432\n")
    }
    let password = arguments.flag("with-password") ? server.password.map { ":\($0)" } ?? "" : ""
    return try say(
      "postgresql://\(listening.role)\(password)@127.0.0.1:\(listening.port)/quake\n")
  }

  private static func stop(
    _ server: EmbeddedServer, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let wasRunning = try server.stop()
    guard diagnostics.verbosity > .quiet else { return .ok }
    return try say(
      wasRunning ? "the embedded server was stopped\n" : "the embedded server was not running\n")
  }

  private static func status(_ server: EmbeddedServer) throws -> ExitStatus {
    let status = try server.status()
    var table = TextTable([.text("embedded server"), .text(status.running ? "running" : "stopped")])
    table.add(["data directory", status.dataDirectory])
    table.add(["socket directory", status.socketDirectory])
    table.add(["log file", status.logFile])
    table.add(["version", status.version ?? "not created yet"])
    if let pid = status.pid { table.add(["process id", "\(pid)"]) }
    table.add(["connection", server.conninfo])
    if let listening = server.listening {
      let isMissing = status.running && !server.isListening
      table.add([
        "TCP",
        "127.0.0.1:\(listening.port), role \(listening.role)"
          + (isMissing ? "; not open, because the port was in use at the start" : ""),
      ])
      table.add(["password file", server.passwordFile])
    }
    _ = try say(table.render())
    return status.running ? .ok : .failed
  }

  private static func say(_ text: String) throws -> ExitStatus {
    let output = StandardOutput()
    try output.write(text)
    try output.flush()
    return .ok
  }
}

/// Opens and closes TCP on the loopback address for the embedded server.
struct ListeningServer {
  private let server: EmbeddedServer
  private let diagnostics: Diagnostics

  init(_ server: EmbeddedServer, _ diagnostics: Diagnostics) {
    self.server = server
    self.diagnostics = diagnostics
  }

  /// Makes the running server listen: creates the roles and the reader's password, and restarts the server if
  /// it does not listen on this port yet.
  ///
  /// - Returns: Whether it was restarted.
  func open(_ port: Int) throws -> Bool {
    let before = server.listening
    let isOpen = before?.port == port && server.isListening
    guard isOpen || !EmbeddedServer.isUsed(port) else {
      throw EmbeddedServerError(
        .unavailable, "port \(port) of 127.0.0.1 is in use",
        hint: "Name another one: quake-admin server start --listen PORT")
    }
    guard let names = RoleNames() else { preconditionFailure("the standard prefix is valid") }
    let password = server.password ?? Self.makePassword()
    let connection = try Connection(
      ConnectionSettings(server.conninfo, applicationName: diagnostics.tool))
    for migration in try Migrator(
      connection: connection, program: Build.program(diagnostics.tool)
    ).migrate() {
      diagnostics.note("applied migration \(migration.version) (\(migration.name))")
    }
    var options = RoleMaker.Options()
    options.passwords = [.reader: password]
    _ = try RoleMaker(names, options, over: connection).make()
    try server.listen(on: port, role: names.name(.reader), password: password)
    guard !isOpen else { return false }
    try restart()
    return true
  }

  /// Makes the server listen on its Unix socket only.
  func close() throws {
    try server.stopListening()
    try restart()
  }

  private func restart() throws {
    diagnostics.note("restarting the embedded server")
    try server.stop()
    try server.start()
  }

  /// 32 letters and digits: 190 bits.
  private static func makePassword() -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    var generator = SystemRandomNumberGenerator()
    return String((0..<32).compactMap { _ in letters.randomElement(using: &generator) })
  }
}
