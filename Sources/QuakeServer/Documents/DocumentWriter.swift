/// Makes a document part by part. A small one stays in memory; a larger one goes to a temporary file, so that
/// memory does not depend on its size.
struct DocumentWriter {
  /// The most bytes that stay in memory.
  static let memoryLimit = 256 << 10

  private let contentType: String
  private let coding: String
  private let limit: Int
  private let space: DocumentSpace
  private var bytes: [UInt8] = []
  private var file: TemporaryFile?
  /// The number of bytes so far.
  private(set) var size = 0
  private var hash = ContentHash()

  /// - Parameters:
  ///   - limit: The most bytes of a document.
  ///   - coding: What the entity tag ends in, to tell the codings of a body apart.
  ///   - space: What all documents in files may take together.
  init(
    contentType: String, limit: Int = 1 << 30, coding: String = "", space: DocumentSpace = .shared
  ) {
    self.space = space
    self.contentType = contentType
    self.limit = limit
    self.coding = coding
  }

  /// Appends bytes. Parts of 64 KiB and more are best.
  ///
  /// - Throws: `HTTPError` 413 if the document becomes too long, 503 if it cannot be stored.
  mutating func write(_ part: UnsafeRawBufferPointer) throws(HTTPError) {
    size += part.count
    guard size <= limit else {
      throw HTTPError(
        413, "The answer would have more than \(limit >> 20) MB. Ask for fewer events.")
    }
    hash.add(part)
    if let file {
      try space.check(size)
      return try file.write(part)
    }
    bytes.append(contentsOf: part)
    guard bytes.count > Self.memoryLimit else { return }
    try space.check(size)
    let file = try TemporaryFile()
    try Self.move(&bytes, to: file)
    self.file = file
  }

  /// Appends bytes.
  mutating func write(_ bytes: [UInt8]) throws(HTTPError) {
    var failure: HTTPError?
    bytes.withUnsafeBytes { part in
      do throws(HTTPError) { try write(part) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Replaces bytes that were written before, such as a number that was not known yet.
  ///
  /// - Parameters:
  ///   - range: What is replaced; it must have been written.
  ///   - part: No more bytes than these. If they are fewer, spaces follow them in a file, whose rest cannot move.
  mutating func replace(_ range: Range<Int>, with part: [UInt8]) throws(HTTPError) {
    precondition(range.upperBound <= size && part.count <= range.count, "replaces other bytes")
    var part = part
    if file != nil { part += Array(repeating: 0x20, count: range.count - part.count) }
    var failure: HTTPError?
    part.withUnsafeBytes { part in
      hash.add(part)
      do throws(HTTPError) { try file?.write(part, at: range.lowerBound) } catch { failure = error }
    }
    if let failure { throw failure }
    guard file == nil else { return }
    bytes.replaceSubrange(range, with: part)
    size = bytes.count
  }

  private static func move(_ bytes: inout [UInt8], to file: TemporaryFile) throws(HTTPError) {
    var failure: HTTPError?
    bytes.withUnsafeBytes { part in
      do throws(HTTPError) { try file.write(part) } catch { failure = error }
    }
    if let failure { throw failure }
    bytes = []
  }

  /// Appends text.
  mutating func write(_ text: String) throws(HTTPError) { try write(Array(text.utf8)) }

  /// The document of all that was written.
  consuming func finish() throws(HTTPError) -> Document {
    Document(
      file.map { .file($0) } ?? .bytes(bytes), size: size, contentType: contentType,
      hash: hash.value, coding: coding, space: space)
  }
}
