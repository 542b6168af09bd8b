internal import Basics
internal import CommandLine
package import QuakeConsumers
internal import Simdjson

/// A text with the values of a message in it: `M {magnitude} {place}`. `{{` and `}}` are braces.
package struct MessageTemplate: Hashable, Sendable {
  package struct Invalid: Error, Equatable {
    /// What is wrong with it, for the end of a sentence.
    package let problem: String
  }

  /// The most bytes of a template.
  package static let longest = 8192

  private enum Part: Hashable, Sendable {
    case text(String)
    /// An environment variable's name.
    case value(String)
  }

  private var parts: [Part] = []

  /// Reads a template.
  ///
  /// - Throws: `Invalid` for a name that no message has, and for braces that do not match.
  package init(_ template: String) throws(Invalid) {
    guard template.utf8.count <= Self.longest else {
      throw Invalid(problem: "it has more than \(Self.longest) bytes")
    }
    var text = ""
    var rest = Substring(template)
    while let character = rest.popFirst() {
      switch character {
      case "{" where rest.first != "{":
        if !text.isEmpty { parts.append(.text(text)) }
        text = ""
        parts.append(.value(try Self.variable(&rest)))
      case "}" where rest.first != "}":
        throw Invalid(problem: "a \"}\" has no \"{\" before it; write \"}}\" for a brace")
      case "{", "}":
        rest.removeFirst()
        text.append(character)
      default: text.append(character)
      }
    }
    if !text.isEmpty { parts.append(.text(text)) }
    guard !parts.isEmpty else { throw Invalid(problem: "it is empty") }
  }

  /// Reads the name after a brace.
  private static func variable(_ rest: inout Substring) throws(Invalid) -> String {
    let name = rest.prefix { $0 != "}" && $0 != "{" }
    guard rest[name.endIndex...].first == "}" else {
      throw Invalid(problem: "a \"{\" has no \"}\" after it; write \"{{\" for a brace")
    }
    guard MessageVariable.names.contains(String(name)) else {
      let shown = PrintableText.line(String(name), atMost: 64)
      let nearest = Suggestion.nearest(to: String(name), among: MessageVariable.names)
      let names = MessageVariable.names.joined(separator: ", ")
      throw Invalid(
        problem: "\"{\(shown)}\" is no value of a message"
          + (nearest.map { ": did you mean \"{\($0)}\"?" } ?? "; there are \(names)"))
    }
    rest = rest[rest.index(after: name.endIndex)...]
    return MessageVariable.variable(String(name))
  }

  /// Checks that the template is JSON whose strings have the values in them.
  package func checkJSON() throws(Invalid) {
    // These letters are no JSON outside of a string, nor the end of an escape.
    let text = Array(filled { _ in "z\\\"z" }.utf8)
    do throws(JSONParser.SyntaxError) {
      _ = try JSONParser().parse(copying: text)
    } catch {
      throw Invalid(
        problem: """
          it is not JSON in which each value is within a string, such as {{"text": "{text}"}}: \
          \(error.reason)
          """)
    }
  }

  /// The text with the values of a message. A value that the message lacks is empty.
  package func text(_ message: Message) -> String {
    filled { message[variable: $0] ?? "" }
  }

  /// The same for a template that is JSON: the values are escaped, so that each stays within its string.
  func json(_ message: Message) -> String {
    filled { name in
      let quoted = EscapedText.quoted(message[variable: name] ?? "")
      return String(quoted.dropFirst().dropLast())
    }
  }

  private func filled(_ value: (String) -> String) -> String {
    parts.reduce(into: "") { text, part in
      switch part {
      case .text(let piece): text += piece
      case .value(let name): text += value(name)
      }
    }
  }
}

/// The values of a message that commands get as environment variables, and templates by shorter names.
package enum MessageVariable {
  /// The names that templates use: `{magnitude}` is the variable `QUAKE_MAGNITUDE`.
  package static let names = [
    "id", "alert", "conversation", "supersedes", "merged_into", "token", "position", "op", "code",
    "magnitude", "old_magnitude", "place", "time", "at", "latitude", "longitude", "depth", "url",
    "text", "held_back",
  ]

  package static func variable(_ name: String) -> String { "QUAKE_" + name.uppercased() }
}
