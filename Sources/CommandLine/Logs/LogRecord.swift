internal import Basics

/// One message as a JSON object, for `--log-format json`.
struct LogRecord {
  /// The severity.
  enum Level: String {
    case debug, info, warning, error
  }

  let time: LogTime
  let level: Level
  let tool: String
  let message: String
  let detail: String?
  let hints: [String]
  let fields: LogFields

  /// The object on one line, with a line feed. The members that each message has come first; empty ones are
  /// null.
  var json: String {
    var text = "{\"time\":\"\(time.iso8601)\",\"level\":\"\(level.rawValue)\""
    text += ",\"tool\":" + Self.quoted(tool) + ",\"message\":" + Self.quoted(message)
    text += ",\"detail\":" + (detail.map(Self.quoted) ?? "null")
    text += ",\"hint\":" + (hints.isEmpty ? "null" : Self.quoted(hints.joined(separator: "\n")))
    for (name, value) in fields.members {
      text += "," + Self.quoted(name) + ":" + Self.encoded(value)
    }
    return text + "}\n"
  }

  private static func encoded(_ value: LogFields.FieldValue) -> String {
    switch value {
    case .text(let text): quoted(text)
    case .integer(let number): "\(number)"
    case .number(let number): number.isFinite ? "\(number)" : "null"
    case .flag(let flag): flag ? "true" : "false"
    }
  }

  /// A JSON string, cut to the length limit of messages.
  private static func quoted(_ text: String) -> String {
    EscapedText.quoted(PrintableText.cut(text, atMost: PrintableText.messageLimit))
  }
}
