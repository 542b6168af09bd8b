internal import Basics
internal import CInih
internal import Glibc

/// A file of `key = value` lines, whose keys are the long names of a command's options.
///
/// `#` and `;` begin a comment at the start of a line, `;` after a space anywhere. A line that begins with a
/// space adds a further value to the key above. Only some commands read sections, whose keys they know themselves.
package enum ConfigurationFile {
  /// The largest file in bytes: more than any list of options needs, and a limit for files of another kind.
  private static let largestSize = 1 << 20
  private static let longestLine = 4096

  private static let allowLongLines: Void = quake_ini_allow_lines(Int32(longestLine))

  /// Reads the entries of a file, in order.
  ///
  /// - Parameters:
  ///   - allowsSections: Whether the file may have sections.
  ///   - kind: What the file is to its reader, for errors.
  ///   - command: The command that reads the file, for errors.
  /// - Throws: `UsageError` with file and line if the file cannot be read, or does not have this form.
  package static func read(
    _ path: String, allowsSections: Bool = false, as kind: String = "configuration file",
    for command: String
  ) throws(UsageError) -> [Setting] {
    try settings(
      in: try contents(of: path, kind, command), allowsSections: allowsSections, file: path,
      command)
  }

  static func settings(
    in bytes: [UInt8], allowsSections: Bool = false, file: String, _ command: String
  ) throws(UsageError) -> [Setting] {
    allowLongLines
    let reading = ConfigurationReading(bytes, allowsSections: allowsSections, file: file)
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
    if badLine == 0 { reading.endSection() }
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
    do throws(SystemFailure) {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw SystemFailure(errno) }
      defer { close(descriptor) }
      let bytes = try SystemCalls.read(descriptor, atMost: largestSize + 1)
      if bytes.count <= largestSize { return bytes }
    } catch {
      throw UsageError(
        "could not read the \(kind) \"\(path)\": \(error.reason)", command: command)
    }
    throw UsageError("\(path): expected a \(kind), but it has more than 1 MiB", command: command)
  }
}

/// One pass of inih over a file's bytes. The library does not report line numbers, so this type passes it one
/// line at a time and counts.
final class ConfigurationReading {
  private let bytes: [UInt8]
  private let allowsSections: Bool
  private let file: String
  private var position = 0
  private var lineNumber = 0
  private(set) var settings: [Setting] = []
  /// The line of a section's name after which no entry has come yet.
  private var emptySection: Int?
  /// The name of the present section. The library would cut it.
  private var section: String?
  /// A word, and a name of 200 characters.
  private static let longestSection = 840
  /// A fault that inih does not detect, with its line.
  private(set) var fault: (line: Int, message: String)?

  init(_ bytes: [UInt8], allowsSections: Bool, file: String) {
    self.bytes = bytes
    self.allowsSections = allowsSections
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
    if allowsSections, line.first == UInt8(ascii: "[") {
      endSection()
      emptySection = lineNumber
      section = String(decoding: line.dropFirst().prefix { $0 != UInt8(ascii: "]") }, as: UTF8.self)
    }
    for (offset, byte) in line.enumerated() { buffer[offset] = CChar(bitPattern: byte) }
    buffer[line.count] = 0
    return true
  }

  /// Notes the end of a section, or of the file: a section without entries has no effect, and so is a mistake.
  func endSection() {
    guard let line = emptySection, fault == nil else { return }
    fault = (line, "expected key = value after the name of this section")
  }

  /// Stores an entry that the library has found in the present line.
  func take(
    section: UnsafePointer<CChar>, name: UnsafePointer<CChar>, value: UnsafePointer<CChar>
  ) {
    emptySection = nil
    let known = section.pointee == 0 ? nil : String(cString: section)
    let section = known == nil || !allowsSections ? known : self.section
    if let section, fault == nil {
      if !allowsSections {
        fault = (lineNumber, "expected key = value without sections, but this is in [\(section)]")
      } else if section.utf8.count > Self.longestSection {
        fault = (
          lineNumber, "expected the name of a section of at most \(Self.longestSection) bytes"
        )
      }
    }
    guard fault == nil else { return }
    let text = Self.withoutComment(String(cString: value))
    settings.append(
      Setting(String(cString: name), text, section: section, file: file, line: lineNumber))
  }

  /// Before version 58, the library leaves the comment after a further value.
  private static func withoutComment(_ value: String) -> String {
    var previous: UInt8 = 0
    for index in value.utf8.indices {
      let byte = value.utf8[index]
      if byte == UInt8(ascii: ";"), isspace(Int32(previous)) != 0 {
        var text = value[..<index]
        while let last = text.utf8.last, isspace(Int32(last)) != 0 { text.removeLast() }
        return String(text)
      }
      previous = byte
    }
    return value
  }
}

/// The configuration file of a command: `--config`, else `QUAKE_CONFIG`.
package enum CommandConfiguration {
  package static let option = Option.value(
    "config", "FILE", completion: .files,
    help: """
      read options that the command line does not give from this file: lines of key = value, where a \
      key is an option's name without dashes; by default $QUAKE_CONFIG
      """
  ).onCommandLineOnly()

  package static let environment: [Command.Variable] = [
    .init("QUAKE_CONFIG", "the configuration file, if --config is not given")
  ]

  /// Adds the options of the configuration file, if there is one, to a command line.
  ///
  /// Warns if the file contains a password and other users can read it.
  ///
  /// - Parameters:
  ///   - allowsSections: Whether the command reads sections of the file, with `sections`.
  ///   - findSecret: Looks for a further secret: the warning's words for it, such as "a token of a feed", its line,
  ///     and how to keep it elsewhere.
  package static func complete(
    _ arguments: ParsedArguments, _ diagnostics: inout Diagnostics, allowsSections: Bool = false,
    findSecret: ([Setting]) -> (what: String, line: Int, hint: String)? = { _ in nil }
  ) throws -> ParsedArguments {
    guard arguments.takes(option.name) else { return arguments }
    guard let path = arguments.string(option.name) ?? Environment.value("QUAKE_CONFIG"),
      !path.isEmpty
    else { return arguments }
    let all = try ConfigurationFile.read(
      path, allowsSections: allowsSections, for: arguments.title)
    let settings = all.filter { $0.section == nil }
    // Errors in the file are reported in the log format that the file sets.
    let asksForJSON = settings.contains {
      $0.key == Option.logFormat.name && $0.value == Diagnostics.Format.json.rawValue
    }
    if asksForJSON, !arguments.isGiven(Option.logFormat.name) { diagnostics.format = .json }
    var completed = try arguments.completed(by: settings)
    completed.sections = all.filter { $0.section != nil }
    guard SecretFile.isReadableByOthers(path) else { return completed }
    if settings.contains(where: { $0.key == "database" && SecretFile.holdsPassword($0.value) }) {
      diagnostics.warning(
        "the configuration file \"\(path)\" contains a password, and other users can read it",
        hint: "Run \"chmod 600\" on it, or put the password into a libpq password file.")
    }
    if let secret = findSecret(all) {
      diagnostics.warning(
        """
        the configuration file \"\(path)\" contains \(secret.what) (line \(secret.line)), and other users \
        can read it
        """,
        hint: "Run \"chmod 600\" on it, or \(secret.hint)")
    }
    return completed
  }
}

/// Whether a configuration file keeps its secrets.
package enum SecretFile {
  /// Whether a database's URL, or its keyword=value pairs, contain a password.
  package static func holdsPassword(_ conninfo: String) -> Bool {
    // As a keyword, or as a parameter of a URL.
    var rest = conninfo[...]
    while let word = rest.firstRange(of: "password") {
      rest = rest[word.upperBound...]
      if rest.first(where: { !$0.isWhitespace }) == "=" { return true }
    }
    // As libpq has it, a name and a password of a URL end before its first slash.
    guard let scheme = conninfo.firstRange(of: "://") else { return false }
    let authority = conninfo[scheme.upperBound...].prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else { return false }
    return authority[..<at].contains(":")
  }

  /// Whether other users can read a file, by the rule that libpq applies to key files: a group may read a file
  /// of root.
  package static func isReadableByOthers(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return status.st_mode & (status.st_uid == 0 ? 0o007 : 0o077) != 0
  }
}

extension ParsedArguments {
  /// Reads the entries of a section of a configuration file as options, so that both obey the same rules.
  ///
  /// - Parameters:
  ///   - command: The command that reads the file.
  ///   - options: The keys of such a section.
  /// - Throws: `UsageError` with file, line and key of the first invalid entry.
  package init(
    sectionOf command: String, options: [Option], settings: [Setting]
  ) throws(UsageError) {
    let empty = ParsedArguments(
      path: [command], positionals: [], options: options, declaredPositionals: [],
      occurrences: [:], notation: .section)
    self = try empty.completed(by: settings)
  }

  /// The same occurrences as those of other options.
  ///
  /// - Parameter names: The names here of options that have other names there.
  package func read(as others: [Option], names: [String: String] = [:]) -> ParsedArguments {
    var other = ParsedArguments(
      path: path, positionals: [], options: others, declaredPositionals: [], occurrences: [:],
      notation: notation)
    for option in others {
      other.occurrences[option.name] = occurrences[names[option.name] ?? option.name]
    }
    return other
  }
}
