import CCompression
import Glibc
import QuakeModel

/// One line of `quake-watch --json`, as far as the order of changes goes. Its contents are kept as a
/// checksum: two watchers must print the same change in the same bytes.
struct FeedLine: Equatable, Sendable {
  /// What a line says that happened, by the first letter of its `op`.
  enum Kind: UInt8, Sendable {
    case insert = 0x69
    case update = 0x75
    case delete = 0x64
    case truncate = 0x74
    case heartbeat = 0x68
    case reset = 0x72
    case snapshot = 0x73
  }

  var token: Int64
  var nonce: UInt32
  /// -1 where there is none.
  var position: Int32
  var kind: Kind
  /// A checksum of the code; 0 where there is none.
  var code: UInt32
  /// A checksum of the whole line; 0 where the line is not known.
  var digest: UInt32

  /// Whether it is the same change, whatever the contents.
  func isSameChange(as other: FeedLine) -> Bool {
    token == other.token && nonce == other.nonce && position == other.position
      && kind == other.kind && code == other.code
  }

  /// Its token as the tools know it.
  var changeToken: ChangeToken? {
    guard token > 0 else { return .beginning }
    let digits = String(nonce, radix: 16)
    return ChangeToken(
      number: token, nonce: String(repeating: "0", count: 8 - digits.count) + digits)
  }

  static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return 0 }
    return UInt32(
      truncatingIfNeeded: crc32(0, start.assumingMemoryBound(to: UInt8.self), UInt32(bytes.count)))
  }

  static func checksum(_ text: String) -> UInt32 {
    var text = text
    return text.withUTF8 { checksum(UnsafeRawBufferPointer($0)) }
  }
}

extension FeedLine: CustomStringConvertible {
  var description: String {
    "\(token):\(position < 0 ? "-" : "\(position)") \(kind)"
  }
}

extension FeedLine {
  /// Reads a line, which ends in a line feed. The members that are looked at come first and in one
  /// order; anything else is no line of ours, and nil.
  ///
  /// The suite reads hundreds of megabytes in a debug build, hence the calls of C on bytes in place.
  init?(_ line: UnsafeRawBufferPointer) {
    guard let start = line.baseAddress, line.count > 60, line[line.count - 1] == 0x0A,
      line[line.count - 2] == 0x7D
    else { return nil }
    var cursor = Cursor(place: start, end: start + line.count)
    guard cursor.skip("{\"token\":\""), let token = cursor.decimal() else { return nil }
    self.token = token
    nonce = 0
    if token > 0 {
      guard cursor.skip("."), let nonce = cursor.hexadecimal() else { return nil }
      self.nonce = nonce
    }
    guard cursor.skip("\",\"position\":") else { return nil }
    position = -1
    if !cursor.skip("null") {
      guard let position = cursor.decimal() else { return nil }
      self.position = Int32(position)
    }
    guard cursor.skip(",\"op\":\""), let kind = Kind(rawValue: cursor.byte),
      cursor.skipPast(0x22) != nil, cursor.skip(",\"code\":")
    else { return nil }
    self.kind = kind
    code = 0
    if !cursor.skip("null") {
      guard cursor.skip("\""), let text = cursor.skipPast(0x22) else { return nil }
      code = Self.checksum(text)
    }
    digest = Self.checksum(line)
  }

  /// A place in a line.
  private struct Cursor {
    var place: UnsafeRawPointer
    let end: UnsafeRawPointer

    var byte: UInt8 { place < end ? place.load(as: UInt8.self) : 0 }

    mutating func skip(_ text: StaticString) -> Bool {
      guard place + text.utf8CodeUnitCount <= end,
        memcmp(place, text.utf8Start, text.utf8CodeUnitCount) == 0
      else { return false }
      place += text.utf8CodeUnitCount
      return true
    }

    /// What lies before the next `byte`, which is skipped with it.
    mutating func skipPast(_ byte: Int32) -> UnsafeRawBufferPointer? {
      guard let found = memchr(place, byte, end - place) else { return nil }
      let before = UnsafeRawBufferPointer(start: place, count: UnsafeRawPointer(found) - place)
      place = UnsafeRawPointer(found) + 1
      return before
    }

    /// The line feed at the end of the line stops the C function.
    mutating func decimal() -> Int64? {
      guard (0x30...0x39).contains(byte) else { return nil }
      var rest: UnsafeMutablePointer<CChar>?
      let value = strtoll(place.assumingMemoryBound(to: CChar.self), &rest, 10)
      guard let rest else { return nil }
      place = UnsafeRawPointer(rest)
      return value
    }

    mutating func hexadecimal() -> UInt32? {
      var rest: UnsafeMutablePointer<CChar>?
      let value = strtoul(place.assumingMemoryBound(to: CChar.self), &rest, 16)
      guard let rest, UnsafeRawPointer(rest) - place == 8 else { return nil }
      place = UnsafeRawPointer(rest)
      return UInt32(value)
    }
  }
}
