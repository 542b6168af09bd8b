import CommandLine
import QuakeModel
import QuakeTool

/// Writes standard output, either one JSON object a line or lines for people.
final class Lines {
  /// Formats the lines for people.
  let text: ChangeText
  /// Whether the lines are JSON.
  let isJSON: Bool
  private let output = StandardOutput()
  private var json = JSONWriter()

  init(_ arguments: ParsedArguments) {
    isJSON = arguments.flag("json")
    text = ChangeText(for: output)
  }

  /// Writes one line in the format that the user chose.
  ///
  /// - Parameter body: Writes the JSON. It calls the drain that it receives whenever a long line has grown.
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

  /// Writes a part of a JSON line, which may be longer than the available memory.
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

  /// Writes text unchanged.
  func write(_ text: String) throws { try output.write(text) }

  /// Flushes the buffer.
  func flush() throws { try output.flush() }
}
