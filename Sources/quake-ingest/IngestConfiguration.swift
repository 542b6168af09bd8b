import CommandLine
import Configuration
import Glibc
import QuakeFeed

/// The configuration file of `quake-ingest`: `--config`, else `QUAKE_CONFIG`.
enum IngestConfiguration {
  static let option = Option.value(
    "config", "FILE", completion: .files,
    help: """
      take options that are not given here from this file: lines of key = value, the keys as here \
      without dashes; by default $QUAKE_CONFIG
      """
  ).onCommandLineOnly()

  static let environment: [Command.Variable] = [
    .init("QUAKE_CONFIG", "the configuration file, where --config is not given")
  ]

  /// Completes a command line that may name a file.
  static func complete(
    _ arguments: ParsedArguments, _ diagnostics: inout Diagnostics
  ) throws -> ParsedArguments {
    guard arguments.takes(option.name) else { return arguments }
    guard let path = arguments.string(option.name) ?? Environment.value("QUAKE_CONFIG"),
      !path.isEmpty
    else { return arguments }
    let settings = try ConfigurationFile.read(path, for: arguments.title)
    // What is wrong with the file is told in the form it asks for, too.
    let asksForJSON = settings.contains {
      $0.key == Option.logFormat.name && $0.value == Diagnostics.Format.json.rawValue
    }
    if asksForJSON, !arguments.isGiven(Option.logFormat.name) { diagnostics.format = .json }
    let completed = try arguments.completed(by: settings)
    guard isReadableByOthers(path) else { return completed }
    if settings.contains(where: { $0.key == "database" && holdsPassword($0.value) }) {
      diagnostics.warning(
        "the configuration file \"\(path)\" holds a password, and others can read it",
        hint: "Run \"chmod 600\" on it, or put the password into a libpq password file.")
    }
    let secret = settings.first {
      $0.key == "feed" && FeedURL.holdsSecret(TimedValue($0.value).value)
    }
    if let secret {
      diagnostics.warning(
        """
        the configuration file \"\(path)\" holds a password or a token of a feed (line \
        \(secret.line)), and others can read it
        """,
        hint:
          "Run \"chmod 600\" on it, or have the value name the secret: ${NAME}, ${file:PATH} or ${credential:NAME}."
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

  /// The rule by which libpq judges files of keys: root's may be read by a group.
  private static func isReadableByOthers(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return status.st_mode & (status.st_uid == 0 ? 0o007 : 0o077) != 0
  }
}
