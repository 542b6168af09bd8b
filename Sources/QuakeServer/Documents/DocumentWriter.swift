import Basics
import Glibc
import QuakeModel

/// Makes a document part by part. A small one stays in memory; a larger one goes to a temporary file, so that
/// memory does not depend on its size.
struct DocumentWriter {
  static let memoryLimit = 256 << 10

  private let contentType: String
  private let coding: String
  private let limit: Int
  private let space: DocumentSpace
  private var bytes: [UInt8] = []
  private var file: TemporaryFile?
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
  mutating func write(_ part: UnsafeRawBufferPointer) throws {
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
    try bytes.withUnsafeBytes { try file.write($0) }
    bytes = []
    self.file = file
  }

  mutating func write(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try write($0) }
  }

  /// Replaces bytes that were written before, such as a number that was not known yet.
  ///
  /// - Parameters:
  ///   - range: What is replaced; it must have been written.
  ///   - part: No more bytes than these. If they are fewer, spaces follow them in a file, whose rest cannot move.
  mutating func replace(_ range: Range<Int>, with part: [UInt8]) throws {
    precondition(range.upperBound <= size && part.count <= range.count, "replaces other bytes")
    var part = part
    if file != nil { part += Array(repeating: 0x20, count: range.count - part.count) }
    try part.withUnsafeBytes { part in
      hash.add(part)
      try file?.write(part, at: range.lowerBound)
    }
    guard file == nil else { return }
    bytes.replaceSubrange(range, with: part)
    size = bytes.count
  }

  mutating func write(_ text: String) throws { try write(Array(text.utf8)) }

  consuming func finish() -> Document {
    Document(
      file.map { .file($0) } ?? .bytes(bytes), size: size, contentType: contentType,
      hash: hash.value, coding: coding, space: space)
  }
}

/// An unnamed file of the server, which its last user closes.
final class TemporaryFile: Sendable {
  let descriptor: Int32

  /// Creates an empty file.
  ///
  /// - Throws: `HTTPError` 503 if it cannot be created.
  init() throws(HTTPError) {
    do throws(SystemFailure) {
      descriptor = try UnnamedFile.create(in: Self.folder, named: "quake-serve")
    } catch {
      throw Self.error(error.code)
    }
  }

  deinit {
    close(descriptor)
  }

  /// The folder of temporary files. `/tmp` is memory on some systems, which these files are to save.
  private static let folder = "/var/tmp"

  private static func error(_ code: Int32) -> HTTPError {
    HTTPError(
      503, "The server could not store the answer: \(String(cString: strerror(code))).",
      ["Retry-After": "10"])
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) {
    do throws(SystemFailure) {
      try SystemCalls.write(bytes, to: descriptor)
    } catch {
      throw Self.error(error.code)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at position: Int) throws(HTTPError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = pwrite(descriptor, rest.baseAddress, rest.count, position + done)
      if count > 0 {
        done += count
      } else if errno != EINTR {
        throw Self.error(errno)
      }
    }
  }

  /// Hands over the first `size` bytes in parts.
  func withParts(upTo size: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let part = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { part.deallocate() }
    var position = 0
    while position < size {
      let count = pread(descriptor, part.baseAddress, min(part.count, size - position), position)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.error(count < 0 ? errno : EIO) }
      try body(UnsafeRawBufferPointer(rebasing: part[..<count]))
      position += count
    }
  }
}

/// Makes a JSON document of any length in bounded memory.
final class JSONDocument {
  /// The writer. Long values are written with `drain`.
  var json = JSONWriter()
  private var writer: DocumentWriter

  /// The most bytes of a document: a million events with their changes.
  private static let limit = 1 << 30
  /// The bytes that are collected before they are handed over.
  private static let partSize = 64 << 10

  init() {
    writer = DocumentWriter(contentType: "application/json", limit: Self.limit)
  }

  /// Empties a writer, in the middle of a value or between two.
  func drain(_ json: inout JSONWriter) throws {
    try json.withBytes { try writer.write($0) }
    json.removeWritten()
  }

  func drainIfLarge() throws {
    if json.count >= Self.partSize { try drain(&json) }
  }

  /// Writes an element of an array, on a line of its own.
  func element(_ body: (inout JSONWriter, JSONWriter.Drain) throws -> Void) throws {
    try body(&json, drain)
    try drainIfLarge()
  }

  func finish() throws -> Document {
    json.newline()
    try drain(&json)
    return writer.finish()
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
