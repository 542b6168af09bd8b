import Basics
import Glibc
import Postgres
import QuakeFormat
import QuakeQuery
import Synchronization

/// A complete body, in memory or in a temporary file without a name. It does not change.
final class Document: Sendable {
  enum Content: Sendable {
    case bytes([UInt8])
    case file(TemporaryFile)
  }

  let contentType: String
  let content: Content
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
    let made = writer.finish()
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
  ) throws {
    self.head = head
    self.head.count = Int(most ?? 999_999_999)
    self.makeWriter = makeWriter
    let bytes = Self.text(of: self.head, makeWriter())
    range = document.size..<(document.size + bytes.count)
    try document.write(bytes)
  }

  mutating func fill(_ count: Int, in document: inout DocumentWriter) throws {
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

/// The space on the disk that documents may take together: those that are kept, and those that are being sent to
/// clients, of which some read slowly.
final class DocumentSpace: Sendable {
  /// That of all documents of this process.
  static let shared = DocumentSpace(most: 4 << 30)

  private let most: Int
  private let taken = Atomic<Int>(0)

  init(most: Int) { self.most = most }

  /// - Throws: `HTTPError` 503 if there is no space for a document of `size` bytes.
  func check(_ size: Int) throws(HTTPError) {
    guard taken.load(ordering: .relaxed) <= most - size else {
      throw HTTPError(
        503, "The server has no space for the answer at the moment. Try again later.",
        ["Retry-After": "30"])
    }
  }

  func take(_ size: Int) { taken.add(size, ordering: .relaxed) }

  func release(_ size: Int) { taken.subtract(size, ordering: .relaxed) }
}

/// A hash of 64 bits for entity tags. It tells contents apart; it is no protection against a forger.
///
/// The steps are those of FNV-1a with words of eight bytes instead of single bytes, and a shift that spreads the
/// high bits. It hashes more than a gigabyte a second, which is little beside the time to make a document.
struct ContentHash {
  private var state: UInt64 = 0xcbf2_9ce4_8422_2325
  private var rest: UInt64 = 0
  private var restCount = 0

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var index = 0
    while index < bytes.count, restCount > 0 {
      addByte(bytes[index])
      index += 1
    }
    while index + 8 <= bytes.count {
      mix(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      index += 8
    }
    while index < bytes.count {
      addByte(bytes[index])
      index += 1
    }
  }

  private mutating func addByte(_ byte: UInt8) {
    rest |= UInt64(byte) << (8 * UInt64(restCount))
    restCount += 1
    guard restCount == 8 else { return }
    mix(rest)
    (rest, restCount) = (0, 0)
  }

  private mutating func mix(_ word: UInt64) {
    state = (state ^ word) &* 0x0000_0100_0000_01b3
    state ^= state >> 29
    state = state &* 0xbf58_476d_1ce4_e5b9
  }

  /// The hash of what was added.
  var value: UInt64 {
    var copy = self
    copy.mix(rest ^ UInt64(restCount) << 56)
    return copy.state ^ copy.state >> 32
  }
}

/// The headline of a document: it names the source of its events, if they have one source.
enum SourceTitle {
  /// The names of sources as their agencies write them. Events without a source of their own are `local`.
  private static let names = [
    "usgs": "USGS", "emsc": "EMSC", "ingv": "INGV", "geonet": "GeoNet", "gfz": "GFZ", "isc": "ISC",
    "sed": "SED", "simulated": "Simulated",
  ]

  /// A headline without its source, such as `All Earthquakes, Past Day`, with the source of a query's events.
  ///
  /// - Parameter query: The events of the document; nil: none. A document without events has the source of the
  ///   newest events of the store.
  static func text(
    _ title: String, of query: EventQuery?, over connection: Connection
  ) throws -> String {
    var sources = try query?.sources(over: connection) ?? []
    if sources.isEmpty {
      var newest = EventQuery()
      newest.limit = 100
      sources = try newest.sources(over: connection)
    }
    guard sources.count == 1, let source = sources.first, !["", "local"].contains(source) else {
      return title
    }
    return "\(names[source] ?? source) \(title)"
  }
}
