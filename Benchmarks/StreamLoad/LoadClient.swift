import CLinux
import Glibc

/// One client of the stream: a socket, and what it has received.
struct LoadClient {
  var descriptor: Int32 = -1
  /// The smallest magnitude that it asks for, in thousandths.
  var least: Int
  /// Whether the answer's header has been read.
  var hasHeader = false
  /// The beginning of an event that has not come whole.
  var partial: [UInt8] = []
  /// The id of the last event.
  var lastID = ""
  /// The changes that it has, and a digest of their ids in their order.
  var changes = 0
  var digest = LoadClient.emptyDigest
  /// Whether it reads.
  var isStalled = false
  var isGreeted = false

  static let emptyDigest: UInt64 = 0xCBF2_9CE4_8422_2325

  /// Adds an id to a digest (FNV-1a).
  static func add(_ id: some Sequence<UInt8>, to digest: inout UInt64) {
    for byte in id { digest = (digest ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    digest = (digest ^ 10) &* 0x0000_0100_0000_01B3
  }

  init(least: Int) {
    self.least = least
  }

  /// Takes in bytes; calls `onChange` for each whole change.
  mutating func take(_ bytes: UnsafeRawBufferPointer, onChange: () -> Void) {
    if partial.isEmpty {
      let used = parse(bytes, onChange)
      if used < bytes.count { partial.append(contentsOf: bytes[used...]) }
    } else {
      partial.append(contentsOf: bytes)
      let all = partial
      let used = all.withUnsafeBytes { parse($0, onChange) }
      partial.removeFirst(used)
      if partial.isEmpty { partial = [] }
    }
  }

  /// - Returns: How many bytes were whole events.
  private mutating func parse(_ bytes: UnsafeRawBufferPointer, _ onChange: () -> Void) -> Int {
    var position = 0
    if !hasHeader {
      guard let end = Self.lineEnd(in: bytes, from: 0, before: UInt8(ascii: "\r")) else { return 0 }
      hasHeader = true
      position = end + 3
    }
    while let end = Self.lineEnd(in: bytes, from: position, before: UInt8(ascii: "\n")) {
      event(UnsafeRawBufferPointer(rebasing: bytes[position..<end + 2]), onChange)
      position = end + 2
    }
    return position
  }

  /// The first end of a line that a byte follows.
  private static func lineEnd(
    in bytes: UnsafeRawBufferPointer, from start: Int, before next: UInt8
  ) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    var position = start
    while position < bytes.count,
      let found = memchr(base + position, 10, bytes.count - position)
    {
      let end = UnsafeRawPointer(found) - base
      guard end + 1 < bytes.count else { return nil }
      if bytes[end + 1] == next {
        // An end of the header has one more byte.
        return next == 10 || end + 2 < bytes.count ? end : nil
      }
      position = end + 1
    }
    return nil
  }

  private mutating func event(_ bytes: UnsafeRawBufferPointer, _ onChange: () -> Void) {
    // A change begins with its id; other events begin with their names.
    let isChange = bytes[0] == UInt8(ascii: "i")
    var start = 0
    if !isChange {
      isGreeted = true
      guard let line = bytes.firstIndex(of: 10), bytes[line + 1] == UInt8(ascii: "i") else {
        return
      }
      start = line + 1
    }
    guard let end = bytes[start...].firstIndex(of: 10) else { return }
    let id = bytes[(start + 4)..<end]
    lastID = String(decoding: id, as: UTF8.self)
    guard isChange else { return }
    changes += 1
    Self.add(id, to: &digest)
    onChange()
  }
}
