/// A command or subcommand described as data.
///
/// One description gives the parser (``parse(_:)``), the help (``help(width:)``), the manual page
/// (``manPage(date:manual:)``) and the shell completions (``completions(for:)``). A command has
/// either subcommands or arguments of its own. Its options hold for its subcommands too and may
/// stand before or after their names; `--help` and `--version` need no declaration.
public struct Command: Sendable {
  /// A line to type, and what it does.
  public struct Example: Sendable, Equatable {
    /// The command line.
    public let line: String
    /// What it does.
    public let purpose: String

    /// An example.
    public init(_ line: String, _ purpose: String) {
      self.line = line
      self.purpose = purpose
    }
  }

  /// An environment variable the command obeys.
  public struct Variable: Sendable, Equatable {
    /// Its name.
    public let name: String
    /// What it does.
    public let help: String

    /// A variable.
    public init(_ name: String, _ help: String) {
      self.name = name
      self.help = help
    }
  }

  /// An exit status the command may end with, and when.
  public struct Outcome: Sendable, Equatable {
    /// The status.
    public let status: ExitStatus
    /// When it is given.
    public let meaning: String

    /// A status; without a meaning of its own the usual one is shown.
    public init(_ status: ExitStatus, _ meaning: String? = nil) {
      self.status = status
      self.meaning = meaning ?? status.meaning
    }
  }

  /// The name, as typed.
  public var name: String
  /// What it is for, in one line without a full stop.
  public var purpose: String
  /// More about it, in sentences; paragraphs are parted by an empty line.
  public var discussion: String?
  /// The program's version; only the outermost command's is read.
  public var version: String?
  /// The options, in the order of the help.
  public var options: [Option]
  /// The arguments, in order.
  public var positionals: [Positional]
  /// The subcommands, in the order of the help.
  public var subcommands: [Command]
  /// Examples; two are enough.
  public var examples: [Example]
  /// Environment variables; a subcommand without any shows those of the command above it.
  public var environment: [Variable]
  /// Exit statuses; a subcommand without any shows those of the command above it.
  public var exitStatuses: [Outcome]

  /// A command.
  public init(
    _ name: String, purpose: String, discussion: String? = nil, version: String? = nil,
    options: [Option] = [], positionals: [Positional] = [], subcommands: [Command] = [],
    examples: [Example] = [], environment: [Variable] = [], exitStatuses: [Outcome] = []
  ) {
    self.name = name
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

  /// Whether everything after the command's name belongs to another program.
  var passesThrough: Bool { positionals.first?.count == .passedThrough }
}

/// A command together with the commands above it, outermost first.
///
/// What is inherited (options, environment, exit statuses) is decided here and nowhere else.
struct CommandPath {
  let commands: [Command]

  init(_ root: Command) { commands = [root] }
  private init(commands: [Command]) { self.commands = commands }

  func appending(_ command: Command) -> CommandPath {
    CommandPath(commands: commands + [command])
  }

  // A path is made with one command and only grows.
  var command: Command { commands[commands.count - 1] }
  var root: Command { commands[0] }
  var names: [String] { commands.map(\.name) }
  var title: String { names.joined(separator: " ") }

  /// The options of the commands above, and those every command has.
  var inheritedOptions: [Option] {
    var options = commands.dropLast().reversed().flatMap(\.options)
    options.append(.helpRequest)
    if root.version != nil { options.append(.versionRequest) }
    return options
  }

  var allOptions: [Option] { command.options + inheritedOptions }

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
      // Options after the name would be handed over, so they are shown before it.
      parts = commands.dropLast().map(\.name) + ["[OPTION]...", command.name]
    } else {
      parts.append("[OPTION]...")
    }
    if !command.subcommands.isEmpty { parts.append("COMMAND") }
    parts += command.positionals.map(\.usage)
    return parts.joined(separator: " ")
  }

  /// This path and all below it, depth first.
  var descendants: [CommandPath] {
    [self] + command.subcommands.flatMap { appending($0).descendants }
  }
}
