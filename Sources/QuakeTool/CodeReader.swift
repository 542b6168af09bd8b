internal import Glibc
internal import QuakeModel

/// Reads codes of events, one a line, from a descriptor, in bounded memory.
///
/// Spaces around a code and empty lines do not count.
package struct CodeReader {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
  private var unread = 0..<0
  private var line: [UInt8] = []
  private var number = 0
  private var isAtEnd = false

  /// The most bytes of a line: more than the longest code has.
  private static let longestLine = 2048

  /// A reader of standard input, or of another descriptor.
  package init(descriptor: Int32 = 0) {
    self.descriptor = descriptor
  }

  /// The next code; nil at the end.
  ///
  /// - Throws: `StoreError` of kind `badData` if a line cannot be a code.
  package mutating func next() throws -> String? {
    while try readLine() {
      // Some editors begin a file with a byte order mark.
      if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
      var code = line.drop(while: Self.isSpace)
      while let last = code.last, Self.isSpace(last) { code.removeLast() }
      guard !code.isEmpty else { continue }
      guard !code.contains(0), let text = String(validating: code, as: UTF8.self),
        text.unicodeScalars.count <= 256
      else {
        throw StoreError(
          .badData, "line \(number) of the codes is not the code of an event",
          hint: "Give one code per line, such as us7000pn9s, as UTF-8.")
      }
      return text
    }
    return nil
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  /// Reads the next line; false at the end.
  private mutating func readLine() throws -> Bool {
    line.removeAll(keepingCapacity: true)
    number += 1
    while true {
      if unread.isEmpty {
        guard try fill() else { return !line.isEmpty }
      }
      let rest = buffer[unread]
      if let end = rest.firstIndex(of: 0x0A) {
        line += rest[..<end]
        unread = (end + 1)..<unread.upperBound
        try checkLength()
        return true
      }
      line += rest
      unread = 0..<0
      try checkLength()
    }
  }

  private func checkLength() throws {
    guard line.count <= Self.longestLine else {
      throw StoreError(
        .badData, "line \(number) of the codes is longer than \(Self.longestLine) bytes",
        hint: "Give one code per line, such as us7000pn9s.")
    }
  }

  private mutating func fill() throws -> Bool {
    guard !isAtEnd else { return false }
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        unread = 0..<count
        return true
      }
      if count < 0, errno == EINTR { continue }
      isAtEnd = true
      guard count == 0 else {
        throw StoreError(
          .badData, "could not read the codes: \(String(cString: strerror(errno)))")
      }
      return false
    }
  }
}
