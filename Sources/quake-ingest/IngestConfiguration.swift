import CommandLine
import Configuration
import Glibc
import QuakeFeed

/// The configuration file of `quake-ingest`: `--config`, else `QUAKE_CONFIG`.
enum IngestConfiguration {
  static let option = Option.value(
    "config", "FILE", completion: .files,
    help: """
      read options that the command line does not give from this file: lines of key = value, where a \
      key is an option's name without dashes; by default $QUAKE_CONFIG
      """
  ).onCommandLineOnly()

  static let environment: [Command.Variable] = [
    .init("QUAKE_CONFIG", "the configuration file, if --config is not given")
  ]

  /// Adds the options of the configuration file, if there is one, to a command line.
  static func complete(
    _ arguments: ParsedArguments, _ diagnostics: inout Diagnostics
  ) throws -> ParsedArguments {
    guard arguments.takes(option.name) else { return arguments }
    guard let path = arguments.string(option.name) ?? Environment.value("QUAKE_CONFIG"),
      !path.isEmpty
    else { return arguments }
    let settings = try ConfigurationFile.read(path, for: arguments.title)
    // Errors in the file are reported in the log format that the file sets.
    let asksForJSON = settings.contains {
      $0.key == Option.logFormat.name && $0.value == Diagnostics.Format.json.rawValue
    }
    if asksForJSON, !arguments.isGiven(Option.logFormat.name) { diagnostics.format = .json }
    let completed = try arguments.completed(by: settings)
    guard isReadableByOthers(path) else { return completed }
    if settings.contains(where: { $0.key == "database" && holdsPassword($0.value) }) {
      diagnostics.warning(
        "the configuration file \"\(path)\" contains a password, and other users can read it",
        hint: "Run \"chmod 600\" on it, or put the password into a libpq password file.")
    }
    let secret = settings.first {
      $0.key == "feed" && FeedURL.holdsSecret(TimedValue($0.value).value)
    }
    if let secret {
      diagnostics.warning(
        """
        the configuration file \"\(path)\" contains a password or a token of a feed (line \
        \(secret.line)), and other users can read it
        """,
        hint:
          "Run \"chmod 600\" on it, or refer to the secret in the value: ${NAME}, ${file:PATH} or ${credential:NAME}."
      )
    }
    return completed
  }

  static func holdsPassword(_ conninfo: String) -> Bool {
    if conninfo.contains("password") { return true }
    guard let scheme = conninfo.firstRange(of: "://"),
      let at = conninfo[scheme.upperBound...].lastIndex(of: "@")
    else { return false }
    return conninfo[scheme.upperBound..<at].contains(":")
  }

  /// The rule that libpq applies to key files: a group may read a file of root.
  private static func isReadableByOthers(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return status.st_mode & (status.st_uid == 0 ? 0o007 : 0o077) != 0
  }
}
