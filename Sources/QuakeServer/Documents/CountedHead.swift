import QuakeFormat

/// The beginning of a document that states the number of its events, which is known when they have been read.
///
/// A query that counts first would make the answer a sixth slower, so the number is filled in afterwards. In a long
/// document, spaces may follow it, which JSON ignores.
struct CountedHead {
  private var head: DocumentHead
  private let makeWriter: () -> any EventWriter
  private let range: Range<Int>

  /// Writes the beginning, with a count of as many digits as the real one can have.
  ///
  /// - Parameters:
  ///   - most: The most events that there can be; nil: not known.
  ///   - makeWriter: Makes a writer of the document's format.
  init(
    _ head: DocumentHead, most: Int64?, in document: inout DocumentWriter,
    makeWriter: @escaping () -> any EventWriter
  ) throws(HTTPError) {
    self.head = head
    self.head.count = Int(most ?? 999_999_999)
    self.makeWriter = makeWriter
    let bytes = Self.text(of: self.head, makeWriter())
    range = document.size..<(document.size + bytes.count)
    try document.write(bytes)
  }

  /// Fills in the count.
  mutating func fill(_ count: Int, in document: inout DocumentWriter) throws(HTTPError) {
    head.count = count
    try document.replace(range, with: Self.text(of: head, makeWriter()))
  }

  private static func text(of head: DocumentHead, _ writer: any EventWriter) -> [UInt8] {
    var writer = writer
    var bytes: [UInt8] = []
    writer.begin(head)
    writer.drain { bytes += $0 }
    return bytes
  }
}
