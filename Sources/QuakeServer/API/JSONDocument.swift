import QuakeModel

/// Makes a JSON document of any length in bounded memory.
final class JSONDocument {
  /// The writer. Long values are written with `drain`.
  var json = JSONWriter()
  private var writer: DocumentWriter

  /// The most bytes of a document: a million events with their changes.
  private static let limit = 1 << 30
  /// The bytes that are collected before they are handed over.
  private static let partSize = 64 << 10

  init(contentType: String = "application/json") {
    writer = DocumentWriter(contentType: contentType, limit: Self.limit)
  }

  /// Empties a writer, in the middle of a value or between two.
  func drain(_ json: inout JSONWriter) throws {
    try json.withBytes { try writer.write($0) }
    json.removeWritten()
  }

  /// Empties the writer if it holds much.
  func drainIfLarge() throws {
    if json.count >= Self.partSize { try drain(&json) }
  }

  /// Writes an element of an array, on a line of its own.
  func element(_ body: (inout JSONWriter, JSONWriter.Drain) throws -> Void) throws {
    try body(&json, drain)
    try drainIfLarge()
  }

  /// Ends the document.
  func finish() throws -> Document {
    json.newline()
    try drain(&json)
    return try writer.finish()
  }

  /// A short document as an answer.
  static func response(
    _ status: Int = 200, _ body: (inout JSONWriter) throws -> Void
  ) rethrows -> Response {
    var json = JSONWriter()
    try body(&json)
    json.newline()
    return Response(
      status, body: .document(Document(json.take(), contentType: "application/json")))
  }
}
