internal import CInih
public import CommandLine
internal import Glibc

/// A file of `key = value` lines, whose keys are the long names of a command's options.
///
/// `#` and `;` begin a comment at the start of a line, `;` after a space anywhere. A line that begins with a
/// space adds a further value to the key above. There are no sections.
public enum ConfigurationFile {
  /// The largest file in bytes: more than any list of options needs, and a limit for files of another kind.
  private static let largestSize = 1 << 20
  private static let longestLine = 4096

  private static let allowLongLines: Void = quake_ini_allow_lines(Int32(longestLine))

  /// Reads the entries of a file, in order.
  ///
  /// - Parameters:
  ///   - kind: What the file is to its reader, for errors.
  ///   - command: The command that reads the file, for errors.
  /// - Throws: `UsageError` with file and line if the file cannot be read, or does not have this form.
  public static func read(
    _ path: String, as kind: String = "configuration file", for command: String
  ) throws(UsageError) -> [Setting] {
    try settings(in: try contents(of: path, kind, command), file: path, command)
  }

  static func settings(
    in bytes: [UInt8], file: String, _ command: String
  ) throws(UsageError) -> [Setting] {
    allowLongLines
    let reading = ConfigurationReading(bytes, file: file)
    let context = Unmanaged.passUnretained(reading).toOpaque()
    let badLine = withExtendedLifetime(reading) {
      ini_parse_stream(
        { buffer, size, context in
          guard let context, let buffer else { return nil }
          return Unmanaged<ConfigurationReading>.fromOpaque(context).takeUnretainedValue()
            .line(into: buffer, capacity: Int(size)) ? buffer : nil
        }, context,
        { context, section, name, value in
          guard let context, let section, let name, let value else { return 0 }
          Unmanaged<ConfigurationReading>.fromOpaque(context).takeUnretainedValue()
            .take(section: section, name: name, value: value)
          return 1
        }, context)
    }
    if let fault = reading.fault, badLine <= 0 || fault.line <= Int(badLine) {
      throw UsageError("\(file):\(fault.line): \(fault.message)", command: command)
    }
    guard badLine == 0 else {
      throw UsageError("\(file):\(badLine): expected key = value", command: command)
    }
    return reading.settings
  }

  private static func contents(
    of path: String, _ kind: String, _ command: String
  ) throws(UsageError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(path, kind, command) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw unreadable(path, kind, command) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
      guard bytes.count <= largestSize else {
        throw UsageError(
          "\(path): expected a \(kind), but it has more than 1 MiB", command: command)
      }
    }
  }

  private static func unreadable(
    _ path: String, _ kind: String, _ command: String
  ) -> UsageError {
    UsageError(
      "could not read the \(kind) \"\(path)\": \(String(cString: strerror(errno)))",
      command: command)
  }
}
