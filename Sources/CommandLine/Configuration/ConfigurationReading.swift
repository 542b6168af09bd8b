internal import CommandLine
internal import Glibc

/// One pass of inih over a file's bytes. The library does not report line numbers, so this type passes it one
/// line at a time and counts.
final class ConfigurationReading {
  private let bytes: [UInt8]
  private let file: String
  private var position = 0
  private var lineNumber = 0
  private(set) var settings: [Setting] = []
  /// A fault that inih does not detect, with its line.
  private(set) var fault: (line: Int, message: String)?

  init(_ bytes: [UInt8], file: String) {
    self.bytes = bytes
    self.file = file
  }

  /// Copies the next line into the library's buffer, like fgets; false at the end.
  func line(into buffer: UnsafeMutablePointer<CChar>, capacity: Int) -> Bool {
    guard fault == nil, position < bytes.count else { return false }
    lineNumber += 1
    let end = bytes[position...].firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
    let line = bytes[position..<end]
    position = end
    // The library would take the remainder of a longer line for another line, and ignore everything after a
    // NUL.
    guard line.count < capacity else {
      fault = (lineNumber, "expected a line of at most \(capacity - 2) bytes")
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

  /// Stores an entry that the library has found in the present line.
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
