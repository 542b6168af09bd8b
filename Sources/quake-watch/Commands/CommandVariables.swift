import CommandLine
import QuakeModel

/// The environment variables that describe the change to a command, so that simple commands need not read
/// JSON.
///
/// A variable without a value is unset, even if this program was started with a variable of that name.
struct CommandVariables {
  /// Their descriptions in the help.
  static let help: [Command.Variable] = [
    .init("QUAKE_TOKEN, QUAKE_POSITION, QUAKE_OP", "set for commands: which change it is"),
    .init("QUAKE_CODE", "set for commands: the event's code, which may begin with a dash"),
    .init(
      "QUAKE_MAGNITUDE, QUAKE_PLACE, QUAKE_TIME",
      "set for commands: the event's, after the change if it is still there; unset if not known"),
  ]

  /// The variables; nil for those that are unset.
  private(set) var values: [String: String?] = [
    "QUAKE_TOKEN": nil, "QUAKE_POSITION": nil, "QUAKE_OP": nil, "QUAKE_CODE": nil,
    "QUAKE_MAGNITUDE": nil, "QUAKE_PLACE": nil, "QUAKE_TIME": nil,
  ]

  /// The variables for a transaction.
  init(token: ChangeToken) {
    set("QUAKE_TOKEN", token.description)
  }

  /// The variables for one change, one event of a snapshot, or a reset.
  init(token: ChangeToken, position: Int64?, op: String, event: QuakeRecord?) {
    self.init(token: token)
    set("QUAKE_POSITION", position.map { "\($0)" })
    set("QUAKE_OP", op)
    set("QUAKE_CODE", Self.text(.code, event))
    set("QUAKE_MAGNITUDE", event?.double(.magnitude).map { "\($0)" })
    set("QUAKE_PLACE", Self.text(.place, event))
    set("QUAKE_TIME", event?.timestamp(.time).map { "\($0)" })
  }

  /// The system refuses to start a program with a value of more than 128 KiB, and that change could never
  /// be handed over. The JSON has the whole text.
  private static let limit = 4096

  /// A text of an event on one line, cut, and without control characters for terminals.
  private static func text(_ column: QuakeColumn, _ event: QuakeRecord?) -> String? {
    event?.withUTF8(column) { utf8 in
      utf8.map { PrintableText.line(utf8: $0, atMost: limit) }
    } ?? nil
  }

  private mutating func set(_ name: String, _ value: String?) {
    if let value { values.updateValue(value, forKey: name) }
  }
}
