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
  ///
  /// - Parameter body: Writes the JSON, and calls the drain that it is given as a long line grows.
  func write(
    text: @autoclosure () -> String,
    json body: (inout JSONWriter, (inout JSONWriter) throws -> Void) throws -> Void
  ) throws {
    if isJSON {
      try body(&json, drain)
      json.newline()
      try json.withBytes { try output.write($0) }
      json.removeAll()
    } else {
      try output.writeLine(text())
    }
  }

  /// Writes a part of a JSON line, which may be longer than memory has room for.
  func writePart(
    _ body: (inout JSONWriter, (inout JSONWriter) throws -> Void) throws -> Void
  ) throws {
    try body(&json, drain)
    try drain(&json)
  }

  private func drain(_ json: inout JSONWriter) throws {
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
