import Postgres
import QuakeFormat
import QuakeModel
import QuakeQuery

/// Makes documents of events. Memory does not depend on their number.
struct EventDocument {
  var format: ExportFormat
  var form: ServiceForm

  /// The number of bytes that are collected before they are handed over.
  private static let partSize = 64 << 10

  /// The document of a query's events, and their number.
  ///
  /// - Parameter query: The events; nil: none.
  func made(
    of query: EventQuery?, _ head: DocumentHead, over connection: Connection
  ) throws -> (Document, count: Int) {
    var document = DocumentWriter(contentType: format.mediaType)
    var counted =
      format.needsCount
      ? try CountedHead(head, most: query?.limit, in: &document) { format.makeWriter(form: form) }
      : nil
    var writer = format.makeWriter(form: form)
    if counted == nil { writer.begin(head) }
    var count = 0
    if var query {
      query.columns = format.columns
      try query.read(over: connection) { event in
        count += 1
        writer.event(event, revision: nil)
        if writer.count >= Self.partSize { try writer.drain { try document.write($0) } }
      }
    }
    writer.end()
    try writer.drain { try document.write($0) }
    try counted?.fill(count, in: &document)
    return (try document.finish(), count)
  }
}
