/// One message as a JSON object, for `--log-format json`.
struct LogRecord {
  /// How grave it is.
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

  /// The object on one line, with its end. The members that each message has come first, null where
  /// there is nothing to say.
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

  /// A JSON string. Control characters are escaped, also those beyond ASCII that JSON would allow: the
  /// log may be read on a terminal.
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5C:
        quoted += "\\"
        quoted.unicodeScalars.append(scalar)
      case 0x0A: quoted += "\\n"
      case 0x09: quoted += "\\t"
      case 0..<0x20, 0x7F...0x9F:
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
