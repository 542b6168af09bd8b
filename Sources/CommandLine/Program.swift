import Glibc

/// The part of `main` that is the same in every tool.
public enum Program {
  /// Reads the command line, does what it asks and ends the process with the resulting status.
  ///
  /// `--help` and `--version` are answered here, and usage errors reported. The body may throw a
  /// ``UsageError`` (status 64) or an ``OutputError``; output that nobody reads any more is no
  /// failure. It should turn its own errors into messages and a status; one that it throws is
  /// reported as it describes itself, with status 1.
  public static func run(
    _ command: Command, arguments: [String] = ProcessArguments.current,
    body: (ParsedArguments, Diagnostics) throws -> ExitStatus
  ) -> Never {
    Signals.ignoreClosedPipes()
    let diagnostics = Diagnostics(
      tool: command.name, noColor: Environment.value("NO_COLOR"), term: Environment.value("TERM"))
    status(of: command, arguments, StandardOutput(), diagnostics, body).exit()
  }

  static func status(
    of command: Command, _ arguments: [String], _ output: StandardOutput,
    _ diagnostics: Diagnostics, _ body: (ParsedArguments, Diagnostics) throws -> ExitStatus
  ) -> ExitStatus {
    do {
      switch try command.parse(arguments) {
      case .help(let text), .version(let text):
        try output.write(text)
        try output.flush()
        return .ok
      case .run(let parsed):
        var diagnostics = diagnostics
        if parsed.options.contains(.quiet), parsed.options.contains(.verbose) {
          diagnostics.verbosity = try Diagnostics.verbosity(of: parsed)
        }
        return try body(parsed, diagnostics)
      }
    } catch let error as UsageError {
      diagnostics.report(error)
      return .usage
    } catch OutputError.closed {
      return .ok
    } catch {
      diagnostics.error("\(error)")
      return .failed
    }
  }
}
