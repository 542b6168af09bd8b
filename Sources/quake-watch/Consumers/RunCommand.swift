import Basics
import CommandLine
import Glibc
import QuakeConsumers
import QuakeModel
import QuakeSinks
import QuakeTool

/// `quake-watch run`: delivers to consumers until it is stopped.
struct RunCommand {
  static let table = Command(
    "run", purpose: "deliver changes and alerts to the consumers of a configuration file",
    discussion: """
      A section [consumer NAME] of the file names what a consumer wants, and where its messages go: a command, \
      standard output, a webhook or an MQTT broker. What it owes is in the database until the receiver has taken it, also \
      over crashes of this program, of the server and of the receiver. docs/consumers.md lists the keys.

      SIGHUP reads the file anew: it adds, changes and ends consumers, and does not touch the others. SIGTERM and \
      SIGINT end the program within ten seconds; attempts that are cut off are repeated at the next start, with the \
      same id.

      If another process runs a consumer, this one stands by, and takes it over when the other has ended.
      """,
    options: [
      .flag("check", help: "print what each consumer would do, and connect to nothing"),
      .value(
        "state", "FILE",
        help: "the file of the witness; by default one in the user's state folder"),
      .toggle(
        "witness", initially: true,
        help: "keep no witness, which notices that a restore has lost what was delivered"),
      CommandConfiguration.option,
    ],
    examples: [
      .init("quake-watch run --config consumers.conf", "deliver until stopped"),
      .init("quake-watch run --config consumers.conf --check", "look whether the file is right"),
    ])

  private let arguments: ParsedArguments
  private let diagnostics: Diagnostics

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) {
    self.arguments = arguments
    self.diagnostics = diagnostics
  }

  func run() throws -> ExitStatus {
    let configurations = try ConsumerConfiguration.read(arguments)
    if arguments.flag("check") {
      let output = StandardOutput()
      try output.write(configurations.map { $0.report + "\n" }.joined())
      try output.flush()
      return .ok
    }
    Signals.install()
    let service = ServiceManager()
    var diagnostics = diagnostics
    diagnostics.form = .log
    let loop = try ConsumerLoop(
      configurations, try DatabaseAccess(arguments, diagnostics, reconnects: true), diagnostics,
      service: service, witness: try witness(),
      readConfiguration: { [arguments] in try ConsumerConfiguration.readAnew(arguments) })
    do {
      try loop.run()
    } catch OutputError.closed {
      return .outputClosed
    }
    return .ok
  }

  private func witness() throws -> ConsumerWitness {
    let file = arguments.string("state")
    guard file == nil || arguments.flag("witness") else {
      throw arguments.usageError("--state and --no-witness cannot be used together")
    }
    let place: WitnessPlace =
      !arguments.flag("witness") ? .none : file.map { .file($0) } ?? .stateFolder
    let path = arguments.string("config") ?? Environment.value("QUAKE_CONFIG") ?? ""
    let whole = realpath(path, nil)
    defer { free(whole) }
    return ConsumerWitness(
      of: whole.map { String(cString: $0) } ?? path, place, diagnostics)
  }
}

extension ConsumerConfiguration {
  /// The consumers of the file that the command began with, as it is now.
  static func readAnew(_ arguments: ParsedArguments) throws -> [ConsumerConfiguration] {
    guard let path = arguments.string("config") ?? Environment.value("QUAKE_CONFIG") else {
      return []
    }
    let settings = try ConfigurationFile.read(path, allowsSections: true, for: arguments.title)
    return try read(settings.filter { $0.section != nil }, arguments)
  }

  /// What it would do, for people.
  var report: String {
    var lines = ["consumer \"\(PrintableText.line(name))\" (\(place))"]
    lines.append("  delivers to: \(plan.shown)")
    lines.append("  tells of: \(rule == nil ? "changes" : "earthquakes")")
    let conditions = entries.filter { key, _ in
      !Self.ownKeys.contains(key)
    }.sorted { $0.key < $1.key }
    lines.append(
      "  which: "
        + (conditions.isEmpty
          ? "all"
          : conditions.map { "\($0.key) \($0.value.joined(separator: ", "))" }
            .joined(separator: "; ")))
    lines.append(
      """
        limits: \(delivery.atOnce) at once, \(delivery.batch) in one, up to \(backlog) owed, given up after \
      \(delivery.giveUp.text)\(rate.map { ", at most \($0.text)" } ?? "")
      """)
    lines.append("  begins: \(entries["from"]?.last ?? "now"), if it has no cursor yet")
    return lines.joined(separator: "\n")
  }

  /// The keys that say neither which changes nor which earthquakes.
  private static let ownKeys: Set<String> = Set(
    (SinkKeys.options + MQTTKeys.options).map(\.name)
  ).union([
    "alert", "at-once", "batch", "give-up", "limit-rate", "backlog", "from",
  ])
}
