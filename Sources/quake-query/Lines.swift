import CommandLine
import QuakeModel
import QuakeTool

/// Standard output, as one JSON object a line or as lines for people.
final class Lines {
  /// The lines' texts.
  let text: ChangeText
  /// Whether the lines are JSON.
  let isJSON: Bool
  private let output = StandardOutput()
  private var json = JSONWriter()

  init(_ arguments: ParsedArguments) {
    isJSON = arguments.flag("json")
    text = ChangeText(for: output)
  }

  /// Writes one line: whichever of the two is wanted.
  func write(text: @autoclosure () -> String, json body: (inout JSONWriter) -> Void) throws {
    if isJSON {
      body(&json)
      json.newline()
      try json.withBytes { try output.write($0) }
      json.removeAll()
    } else {
      try output.writeLine(text())
    }
  }

  /// Writes a part of a JSON line, which may be longer than memory has room for.
  func writePart(_ body: (inout JSONWriter) -> Void) throws {
    body(&json)
    try json.withBytes { try output.write($0) }
    json.removeWritten()
  }

  /// Ends a JSON line that was written in parts.
  func endLine() throws {
    json.removeAll()
    try output.write("\n")
  }

  /// Writes text as it is.
  func write(_ text: String) throws { try output.write(text) }

  /// Hands everything over.
  func flush() throws { try output.flush() }
}
