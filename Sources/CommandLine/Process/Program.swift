import Glibc

/// The part of `main` that all tools share.
public enum Program {
  /// Reads the command line, runs the body and ends the process with the resulting status.
  ///
  /// This function prints `--help` and `--version`, and reports usage errors. The body may throw a
  /// ``UsageError`` (status 64) or an ``OutputError``; ``OutputError/closed`` is no failure. The body should
  /// report its other errors itself and return a status; if it throws one, this function prints its
  /// description and ends with status 1.
  ///
  /// - Parameter complete: Adds the settings of a configuration file to the command line. It may set the
  ///   format of the diagnostics first, so that its own errors are printed in that format.
  public static func run(
    _ command: Command, arguments: [String] = ProcessArguments.current,
    complete: (ParsedArguments, inout Diagnostics) throws -> ParsedArguments = {
      arguments, _ in arguments
    },
    body: (ParsedArguments, Diagnostics) throws -> ExitStatus
  ) -> Never {
    StandardDescriptors.reserve()
    Signals.ignoreClosedPipes()
    ColourChoice.current = ColourChoice(
      noColor: Environment.value("NO_COLOR"), force: Environment.value("CLICOLOR_FORCE"))
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
    // Usage errors are reported in the log format that the command line requests.
    if asksForJSON(arguments) { diagnostics.format = .json }
    do {
      switch try command.parse(arguments) {
      case .help(let text), .version(let text):
        try output.write(text)
        try output.flush()
        return .ok
      case .shortHelp(let text, let error):
        if diagnostics.format == .json {
          diagnostics.report(error)
        } else {
          _ = Descriptor.writeAll(text, to: diagnostics.descriptor)
        }
        return .usage
      case .run(let parsed):
        let settings = try complete(parsed, &diagnostics)
        try diagnostics.obey(settings)
        for doubt in settings.doubtfulValues {
          diagnostics.warning(doubt.message, hint: "did you mean '\(doubt.suggestion)'?")
        }
        if arguments.isEmpty { introduce(command, diagnostics) }
        return try body(settings, diagnostics)
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

  /// Prints the short help of a tool before it runs without any argument: a user who types only the tool's name
  /// may want to know its other commands.
  private static func introduce(_ command: Command, _ diagnostics: Diagnostics) {
    guard diagnostics.format == .text, diagnostics.verbosity > .quiet, !command.examples.isEmpty
    else { return }
    _ = Descriptor.writeAll(CommandPath(command).shortHelp() + "\n", to: diagnostics.descriptor)
  }

  /// Whether `--log-format json` is among the arguments, even if they are not valid.
  private static func asksForJSON(_ arguments: [String]) -> Bool {
    let name = "--" + Option.logFormat.name
    let options = arguments.prefix { $0 != "--" }
    return options.contains(name + "=json")
      || zip(options, options.dropFirst()).contains { $0 == name && $1 == "json" }
  }
}
