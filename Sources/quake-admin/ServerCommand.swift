import ChildProcesses
import CommandLine
import EmbeddedPostgres
import QuakeTool

/// `quake-admin server`: controls the embedded server.
enum ServerCommand {
  static let table = Command(
    "server", purpose: "start, stop and inspect the embedded server",
    discussion: """
      The embedded server is a private PostgreSQL that every tool uses when no other database is \
      named. It listens on a Unix socket only.
      """,
    subcommands: [
      Command("start", purpose: "start the embedded server; create it first if there is none"),
      Command("stop", purpose: "stop the embedded server"),
      Command("status", purpose: "report whether the embedded server runs, and its folders"),
      Command(
        "psql", purpose: "open psql on the embedded server",
        positionals: [.init("ARGUMENT", .passedThrough, help: "passed to psql unchanged")]),
    ],
    examples: [
      .init("quake-admin server psql -c 'table quake.import'", "run a query"),
      .init("quake-admin server stop", "stop the server"),
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let server = try DatabaseAccess.embeddedServer()
    switch arguments.subcommand.last {
    case "start": return try start(server, diagnostics)
    case "stop": return try stop(server)
    case "status": return try status(server)
    default:
      try server.startIfNeeded()
      let psql = try server.psqlPath
      Signals.restoreDefaults()
      try ChildProcess.replaceProcess(psql, [server.conninfo] + arguments.positionals)
    }
  }

  private static func start(
    _ server: EmbeddedServer, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let outcome = try server.startIfNeeded { phase in
      if phase == .initialising { diagnostics.note("creating it in \(server.options.home)") }
    }
    let verb = outcome == .alreadyRunning ? "is running" : "was started"
    return try say(
      PrintableText.line("the embedded server \(verb) in \(server.options.home)") + "\n")
  }

  private static func stop(_ server: EmbeddedServer) throws -> ExitStatus {
    let wasRunning = try server.stop()
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
