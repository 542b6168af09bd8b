public import CommandLine

/// The configuration file of a command: `--config`, else `QUAKE_CONFIG`.
public enum CommandConfiguration {
  /// The option that names the file.
  public static let option = Option.value(
    "config", "FILE", completion: .files,
    help: """
      read options that the command line does not give from this file: lines of key = value, where a \
      key is an option's name without dashes; by default $QUAKE_CONFIG
      """
  ).onCommandLineOnly()

  /// The environment variable that names the file.
  public static let environment: [Command.Variable] = [
    .init("QUAKE_CONFIG", "the configuration file, if --config is not given")
  ]

  /// Adds the options of the configuration file, if there is one, to a command line.
  ///
  /// Warns if the file contains a password and other users can read it.
  ///
  /// - Parameter findSecret: Looks for a further secret: the warning's words for it, such as "a token of a
  ///   feed", its line, and how to keep it elsewhere.
  public static func complete(
    _ arguments: ParsedArguments, _ diagnostics: inout Diagnostics,
    findSecret: ([Setting]) -> (what: String, line: Int, hint: String)? = { _ in nil }
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
    guard SecretFile.isReadableByOthers(path) else { return completed }
    if settings.contains(where: { $0.key == "database" && SecretFile.holdsPassword($0.value) }) {
      diagnostics.warning(
        "the configuration file \"\(path)\" contains a password, and other users can read it",
        hint: "Run \"chmod 600\" on it, or put the password into a libpq password file.")
    }
    if let secret = findSecret(settings) {
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
