import Compression
import Glibc
import Synchronization

/// A complete body, in memory or in a temporary file without a name. It does not change.
final class Document: Sendable {
  enum Content: Sendable {
    case bytes([UInt8])
    case file(TemporaryFile)
  }

  let contentType: String
  let content: Content
  /// The number of bytes.
  let size: Int
  /// The entity tag, with its quotes: made from the content.
  let entityTag: String
  private let compressed = Mutex<Document?>(nil)
  /// Where the space of a file is counted.
  private let space: DocumentSpace

  /// A body that is in memory.
  convenience init(_ bytes: [UInt8], contentType: String) {
    var hash = ContentHash()
    bytes.withUnsafeBytes { hash.add($0) }
    self.init(.bytes(bytes), size: bytes.count, contentType: contentType, hash: hash.value)
  }

  init(
    _ content: Content, size: Int, contentType: String, hash: UInt64, coding: String = "",
    space: DocumentSpace = .shared
  ) {
    self.content = content
    self.size = size
    self.space = space
    if case .file = content { space.take(size) }
    self.contentType = contentType
    entityTag = "\"\(String(hash, radix: 36))-\(String(size, radix: 36))\(coding)\""
  }

  deinit {
    if case .file = content { space.release(size) }
  }

  /// Whether compression saves anything: a shorter body fits into one packet as it is.
  var isCompressible: Bool { size >= 860 }

  /// The body compressed with gzip, if that was made before.
  var compressedForm: Document? { compressed.withLock { $0 } }

  /// Makes the compressed form, unless there is one or the body is too short.
  ///
  /// - Throws: `HTTPError` 503 if the form cannot be stored.
  func compress() throws {
    guard isCompressible, compressedForm == nil else { return }
    let gzip = GzipCompressor(level: size > DocumentWriter.memoryLimit ? 1 : nil)
    var writer = DocumentWriter(contentType: contentType, limit: .max, coding: "-gzip")
    try withParts { part in
      try gzip.compress(part) { try writer.write($0) }
    }
    try gzip.finish { try writer.write($0) }
    let made = try writer.finish()
    compressed.withLock { $0 = made }
  }

  /// Hands over the content in parts.
  func withParts(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    switch content {
    case .bytes(let bytes): try bytes.withUnsafeBytes { try body($0) }
    case .file(let file): try file.withParts(upTo: size, body)
    }
  }
}
