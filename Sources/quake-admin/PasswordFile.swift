import CommandLine
import Glibc
import QuakeSchema
import QuakeTool

/// Reads the passwords of roles from the first lines of files, so that none is on a command line.
enum PasswordFile {
  /// A file that does not hold a password.
  struct Failure: Error {
    let message: String
  }

  /// The longest password in bytes; PostgreSQL's client programs reject longer ones.
  private static let longest = 1000

  /// Reads the files that `--passwords` and `--password-file` name; the latter has precedence.
  static func read(_ arguments: ParsedArguments) throws(Failure) -> [Role: String] {
    var files: [Role: String] = [:]
    if let folder = arguments.string("passwords") {
      for role in Role.allCases {
        let path = folder + "/" + role.rawValue
        // If the file exists but cannot be read, opening it reports the error.
        if access(path, F_OK) == 0 { files[role] = path }
      }
      guard !files.isEmpty else {
        throw Failure(
          message:
            "folder \"\(folder)\" holds no password: expected files named \(list(", "))")
      }
    }
    for value in arguments.strings("password-file") {
      let words = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard words.count == 2, let role = Role(rawValue: String(words[0])), !words[1].isEmpty else {
        throw Failure(
          message:
            "invalid value '\(value)' for option --password-file: expected ROLE=FILE, where ROLE is one of \(list(", "))"
        )
      }
      files[role] = String(words[1])
    }
    var passwords: [Role: String] = [:]
    for role in Role.allCases {
      guard let path = files[role] else { continue }
      passwords[role] = try password(in: path)
    }
    return passwords
  }

  private static func list(_ separator: String) -> String {
    Role.allCases.map(\.rawValue).joined(separator: separator)
  }

  private static func password(in path: String) throws(Failure) -> String {
    let bytes: [UInt8]
    do throws(AtomicFile.SystemError) {
      guard let start = try AtomicFile(path).read(atMost: longest + 2) else {
        throw .refused(ENOENT)
      }
      bytes = start
    } catch {
      throw Failure(message: "could not read the password file \"\(path)\": \(error)")
    }
    var line = Array(bytes.prefix { $0 != 0x0A })
    if line.last == 0x0D { line.removeLast() }
    guard !line.isEmpty else { throw Failure(message: "the password file \"\(path)\" is empty") }
    guard line.count <= longest, let text = String(validating: line, as: UTF8.self),
      line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
    else {
      throw Failure(
        message:
          "the password file \"\(path)\" does not hold a password: expected one line of at most \(longest) bytes in UTF-8, without control characters"
      )
    }
    return text
  }
}
