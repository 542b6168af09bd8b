import CommandLine
import QuakeConsumers
import QuakeModel
import QuakeSinks
import QuakeTool

/// The options for acting on changes.
struct ExecOptions {
  static let table: [Option] = [
    .value(
      "exec", "COMMAND",
      help: "run COMMAND with /bin/sh for each change, which it gets as JSON on standard input"),
    .optionalValue(
      "exec-batch", "COMMAND",
      help: "run the command for each transaction instead, with one change as JSON on a line"),
    .value(
      "exec-failure", "ACTION", default: "stop", completion: .words(actions),
      help: "what to do when a command fails: stop before its change, or skip it"),
    .value(
      "jobs", "N", default: "1",
      help: "run up to N commands at once; those for one event run one after the other"),
  ]

  private static let actions = ["stop", "skip"]

  private let command: ShellCommand
  private let isBatch: Bool
  private let jobs: Int
  private let stopsOnFailure: Bool

  /// nil if no option names a command.
  init?(_ arguments: ParsedArguments) throws {
    isBatch = arguments.isGiven("exec-batch")
    let commands = [arguments.string("exec"), arguments.string("exec-batch")].compactMap { $0 }
    guard commands.count < 2 else {
      throw arguments.usageError("a command for options --exec and --exec-batch is given twice")
    }
    jobs = try arguments.integer("jobs", in: 1...256) ?? 1
    stopsOnFailure = try arguments.choice("exec-failure", of: Self.actions) != "skip"
    guard let text = commands.first else {
      if isBatch {
        throw arguments.usageError(
          "option --exec-batch needs a command: COMMAND, or --exec COMMAND")
      }
      for name in ["exec-failure", "jobs"] where arguments.isGiven(name) {
        throw arguments.usageError("option --\(name) is for --exec or --exec-batch")
      }
      return nil
    }
    guard text.contains(where: { !$0.isWhitespace }) else {
      let option = arguments.string("exec") == nil ? "--exec-batch" : "--exec"
      throw arguments.usageError("the command for \(option) is empty")
    }
    if isBatch { try arguments.requireAtMostOne(of: "exec-batch", "jobs") }
    command = ShellCommand(text: text)
  }

  /// The handler that runs the command.
  func handler(_ diagnostics: Diagnostics) -> any CommandHandler {
    let policy = FailurePolicy(stops: stopsOnFailure, diagnostics: diagnostics)
    return isBatch
      ? BatchRunner(command, policy: policy)
      : CommandRunner(command, jobs: jobs, policy: policy)
  }
}

/// The environment variables that describe the change to a command, so that simple commands need not read
/// JSON.
///
/// A variable without a value is unset, even if this program was started with a variable of that name.
struct CommandVariables {
  static let help: [Command.Variable] = [
    .init("QUAKE_TOKEN, QUAKE_POSITION, QUAKE_OP", "set for commands: they identify the change"),
    .init("QUAKE_CODE", "set for commands: the event's code, which may begin with a dash"),
    .init(
      "QUAKE_MAGNITUDE, QUAKE_PLACE, QUAKE_TIME",
      "set for commands: the event's values after the change, or before a delete; else unset"),
    .init("QUAKE_OLD_MAGNITUDE", "set for commands: the magnitude before the change; else unset"),
    .init("QUAKE_URL", "set for commands: the event's page, an http or https address; else unset"),
    .init(
      "QUAKE_TEXT",
      "set for commands: the line that is printed without --exec, with the exact time"),
    .init(
      "QUAKE_HELD_BACK",
      "set for commands: how many changes --limit-rate held back since the command before; else unset"
    ),
  ]

  /// The variables; nil for those that are unset.
  private(set) var values: [String: String?] = [
    "QUAKE_TOKEN": nil, "QUAKE_POSITION": nil, "QUAKE_OP": nil, "QUAKE_CODE": nil,
    "QUAKE_MAGNITUDE": nil, "QUAKE_PLACE": nil, "QUAKE_TIME": nil, "QUAKE_OLD_MAGNITUDE": nil,
    "QUAKE_URL": nil, "QUAKE_TEXT": nil, "QUAKE_HELD_BACK": nil,
  ]

  /// The variables for a transaction.
  ///
  /// - Parameter heldBack: How many changes the limit of the rate held back before it.
  init(token: ChangeToken, heldBack: Int) {
    set("QUAKE_TOKEN", token.description)
    if heldBack > 0 { set("QUAKE_HELD_BACK", "\(heldBack)") }
  }

  init(_ change: Change, heldBack: Int) {
    self.init(
      token: change.transaction.token, position: change.position, op: change.op.rawValue,
      event: change.new ?? change.old, text: Self.line.line(change), heldBack: heldBack)
    set("QUAKE_OLD_MAGNITUDE", change.old?.magnitude.map { "\($0)" })
  }

  init(snapshot event: EventRecord, token: ChangeToken, position: Int64, heldBack: Int) {
    self.init(
      token: token, position: position, op: "snapshot", event: event,
      text: Self.line.line(listed: event).drop { $0 == " " }, heldBack: heldBack)
  }

  init(reset token: ChangeToken) {
    self.init(
      token: token, position: nil, op: "reset", event: nil, text: String?.none, heldBack: 0)
  }

  /// Lines without colour and with exact times.
  private static let line = ChangeText(colour: Colour(isEnabled: false))

  private init(
    token: ChangeToken, position: Int64?, op: String, event: EventRecord?,
    text: (some StringProtocol)?, heldBack: Int
  ) {
    self.init(token: token, heldBack: heldBack)
    set("QUAKE_POSITION", position.map { "\($0)" })
    set("QUAKE_OP", op)
    set("QUAKE_CODE", Self.text(.code, event))
    set("QUAKE_MAGNITUDE", event?.magnitude.map { "\($0)" })
    set("QUAKE_PLACE", Self.text(.place, event))
    set("QUAKE_TIME", event?.time.map { "\($0)" })
    set("QUAKE_URL", event?.pageAddress)
    set("QUAKE_TEXT", text.map { String($0) })
  }

  /// The system refuses to start a program with a value of more than 128 KiB, and that change could never
  /// be handed over. The JSON has the whole text.
  private static let limit = 4096

  /// A text of an event on one line, cut, and without control characters for terminals.
  private static func text(_ column: EventColumn, _ event: EventRecord?) -> String? {
    event?.withUTF8(column) { utf8 in
      utf8.map { PrintableText.line(utf8: $0, atMost: limit) }
    } ?? nil
  }

  private mutating func set(_ name: String, _ value: String?) {
    if let value { values.updateValue(value, forKey: name) }
  }
}
