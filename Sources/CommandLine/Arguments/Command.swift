/// A description of a command or subcommand.
///
/// The parser (``parse(_:)``), the help (``help(width:)``), the manual page (``manPage(date:manual:)``) and
/// the shell completions (``Candidates``) all use this description. A command has either subcommands
/// or arguments of its own. Its options apply to its subcommands too, and users may write them before or
/// after the subcommand's name. `--help` and `--version` need no declaration.
package struct Command: Sendable {
  /// A line to type, and what it does.
  package struct Example: Sendable, Equatable {
    package let line: String
    package let purpose: String

    package init(_ line: String, _ purpose: String) {
      self.line = line
      self.purpose = purpose
    }
  }

  package struct Variable: Sendable, Equatable {
    package let name: String
    package let help: String

    package init(_ name: String, _ help: String) {
      self.name = name
      self.help = help
    }
  }

  /// An exit status of the command, with its meaning.
  package struct Outcome: Sendable, Equatable {
    package let status: ExitStatus
    /// The situation in which the command ends with it.
    package let meaning: String

    /// A status; by default with its usual meaning.
    package init(_ status: ExitStatus, _ meaning: String? = nil) {
      self.status = status
      self.meaning = meaning ?? status.meaning
    }
  }

  package var name: String
  /// Its purpose, in one line without a full stop.
  package var purpose: String
  /// More about the command, in sentences; empty lines separate paragraphs.
  package var discussion: String?
  /// The program's version; only that of the outermost command is used.
  package var version: String?
  /// What the program was built from, which `--version` adds; only that of the outermost command is used.
  package var build: String?
  /// Where to report problems with the program; only that of the outermost command is used.
  package var problems: String?
  /// The options, in the order of the help.
  package var options: [Option]
  package var positionals: [Positional]
  /// The subcommands, in the order of the help.
  package var subcommands: [Command]
  /// The subcommand that runs if the command line names none.
  package var standard: String?
  /// Whether the options of the commands above are not its own, too.
  package var standsAlone = false
  /// Examples; two are enough.
  package var examples: [Example]
  /// Environment variables; a subcommand without any shows those of the command above it.
  package var environment: [Variable]
  /// Exit statuses; a subcommand without any shows those of the command above it.
  package var exitStatuses: [Outcome]

  package init(
    _ name: String, purpose: String, discussion: String? = nil, version: String? = nil,
    options: [Option] = [], positionals: [Positional] = [], subcommands: [Command] = [],
    standard: String? = nil, examples: [Example] = [],
    environment: [Variable] = [], exitStatuses: [Outcome] = []
  ) {
    self.name = name
    self.standard = standard
    self.purpose = purpose
    self.discussion = discussion
    self.version = version
    self.options = options
    self.positionals = positionals
    self.subcommands = subcommands
    self.examples = examples
    self.environment = environment
    self.exitStatuses = exitStatuses
  }

  /// The subcommand that runs if the command line names none.
  var standardSubcommand: Command? { subcommands.first { $0.name == standard } }

  /// Whether everything after the command's name is passed to another program.
  var passesThrough: Bool { positionals.first?.count == .passedThrough }
}

/// A command together with the commands above it, outermost first.
///
/// This type alone decides which options, environment variables and exit statuses a command inherits.
struct CommandPath {
  let commands: [Command]

  init(_ root: Command) { commands = [root] }
  private init(commands: [Command]) { self.commands = commands }

  func appending(_ command: Command) -> CommandPath {
    CommandPath(commands: commands + [command])
  }

  // A path starts with one command and never shrinks, so it is not empty.
  var command: Command { commands[commands.count - 1] }
  var root: Command { commands[0] }
  var names: [String] { commands.map(\.name) }
  var title: String { names.joined(separator: " ") }

  /// The options of the commands above, and those every command has.
  var inheritedOptions: [Option] {
    let first = commands.lastIndex(where: \.standsAlone) ?? 0
    var options = commands[first...].dropLast().reversed().flatMap(\.options)
    options.append(.helpRequest)
    if root.version != nil { options.append(.versionRequest) }
    return options
  }

  /// The options of the command, and of its default subcommand.
  var ownOptions: [Option] { command.options + (command.standardSubcommand?.options ?? []) }

  var allOptions: [Option] { ownOptions + inheritedOptions }

  var environment: [Command.Variable] {
    commands.last { !$0.environment.isEmpty }?.environment ?? []
  }

  var exitStatuses: [Command.Outcome] {
    commands.last { !$0.exitStatuses.isEmpty }?.exitStatuses ?? []
  }

  /// The usage line without the word "Usage".
  var usage: String {
    var parts = [title]
    if command.passesThrough {
      // Options after the name would be passed to the other program, so the usage shows them before it.
      parts = commands.dropLast().map(\.name) + ["[OPTION]...", command.name]
    } else {
      parts.append("[OPTION]...")
    }
    if !command.subcommands.isEmpty {
      parts.append(command.standard == nil ? "COMMAND" : "[COMMAND]")
    }
    parts += command.positionals.map(\.usage)
    return parts.joined(separator: " ")
  }

  /// This path and those of all its subcommands, depth first.
  var descendants: [CommandPath] {
    [self] + command.subcommands.flatMap { appending($0).descendants }
  }
}
