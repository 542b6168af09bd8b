internal import CommandLine
internal import Glibc

/// One pass of inih over a file's bytes. It is fed line by line, so that it is known here which line an
/// entry is in: the library keeps that to itself.
final class ConfigurationReading {
  private let bytes: [UInt8]
  private let file: String
  private var position = 0
  private var lineNumber = 0
  private(set) var settings: [Setting] = []
  /// What the library would not have noticed, and where.
  private(set) var fault: (line: Int, message: String)?

  init(_ bytes: [UInt8], file: String) {
    self.bytes = bytes
    self.file = file
  }

  /// Puts the next line where the library wants it, as fgets would; false at the end.
  func line(into buffer: UnsafeMutablePointer<CChar>, room: Int) -> Bool {
    guard fault == nil, position < bytes.count else { return false }
    lineNumber += 1
    let end = bytes[position...].firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
    let line = bytes[position..<end]
    position = end
    // The library would take the rest of a longer line for another one, and what follows a NUL for
    // nothing.
    guard line.count < room else {
      fault = (lineNumber, "expected a line of at most \(room - 2) bytes")
      return false
    }
    guard !line.contains(0), String(validating: line, as: UTF8.self) != nil else {
      fault = (lineNumber, "expected text in UTF-8")
      return false
    }
    for (offset, byte) in line.enumerated() { buffer[offset] = CChar(bitPattern: byte) }
    buffer[line.count] = 0
    return true
  }

  /// Takes an entry that the library has found in the line it was given last.
  func take(
    section: UnsafePointer<CChar>, name: UnsafePointer<CChar>, value: UnsafePointer<CChar>
  ) {
    guard section.pointee == 0 else {
      let section = String(cString: section)
      if fault == nil {
        fault = (lineNumber, "expected key = value without sections, but this is in [\(section)]")
      }
      return
    }
    settings.append(
      Setting(String(cString: name), String(cString: value), file: file, line: lineNumber))
  }
}
