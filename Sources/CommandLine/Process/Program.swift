import Glibc

/// The part of `main` that is the same in every tool.
public enum Program {
  /// Reads the command line, does what it asks and ends the process with the resulting status.
  ///
  /// `--help` and `--version` are answered here, and usage errors reported. The body may throw a
  /// ``UsageError`` (status 64) or an ``OutputError``; output that nobody reads any more is no
  /// failure. It should turn its own errors into messages and a status; one that it throws is
  /// reported as it describes itself, with status 1.
  ///
  /// - Parameter complete: Adds what a configuration file says to the command line. It may set the
  ///   diagnostics' format as soon as it knows it, so that its own errors come in that.
  public static func run(
    _ command: Command, arguments: [String] = ProcessArguments.current,
    complete: (ParsedArguments, inout Diagnostics) throws -> ParsedArguments = {
      arguments, _ in arguments
    },
    body: (ParsedArguments, Diagnostics) throws -> ExitStatus
  ) -> Never {
    Signals.ignoreClosedPipes()
    let diagnostics = Diagnostics(
      tool: command.name, noColor: Environment.value("NO_COLOR"), term: Environment.value("TERM"))
    status(of: command, arguments, StandardOutput(), diagnostics, complete: complete, body).exit()
  }

  static func status(
    of command: Command, _ arguments: [String], _ output: StandardOutput,
    _ diagnostics: Diagnostics,
    complete: (ParsedArguments, inout Diagnostics) throws -> ParsedArguments = {
      arguments, _ in arguments
    },
    _ body: (ParsedArguments, Diagnostics) throws -> ExitStatus
  ) -> ExitStatus {
    var diagnostics = diagnostics
    // A command line that is wrong elsewhere is complained of in the form it asks for, too.
    if asksForJSON(arguments) { diagnostics.format = .json }
    do {
      switch try command.parse(arguments) {
      case .help(let text), .version(let text):
        try output.write(text)
        try output.flush()
        return .ok
      case .run(let parsed):
        let arguments = try complete(parsed, &diagnostics)
        try diagnostics.obey(arguments)
        return try body(arguments, diagnostics)
      }
    } catch let error as UsageError {
      diagnostics.report(error)
      return .usage
    } catch OutputError.closed {
      return .ok
    } catch {
      diagnostics.error(
        "\(error)", fields: ["status": .integer(Int64(ExitStatus.failed.rawValue))])
      return .failed
    }
  }

  /// Whether `--log-format json` is among arguments that may not have been understood.
  private static func asksForJSON(_ arguments: [String]) -> Bool {
    let name = "--" + Option.logFormat.name
    let options = arguments.prefix { $0 != "--" }
    return options.contains(name + "=json")
      || zip(options, options.dropFirst()).contains { $0 == name && $1 == "json" }
  }
}
