public import CommandLine
internal import Postgres

/// The common part of every tool's `main`: read the command line, run, and turn errors into messages and the
/// documented exit status.
public enum Tool {
  /// The options every tool has.
  public static let commonOptions: [Option] =
    [DatabaseAccess.option, .quiet, .verbose, .colour, .logFormat] + GeneratedDocuments.options

  /// The exit statuses every tool has.
  public static let exitStatuses: [Command.Outcome] = [
    .init(.ok), .init(.failed), .init(.usage), .init(.badData), .init(.unavailable),
    .init(.internal), .init(.tryLater), .init(.notAllowed), .init(.schema),
  ]

  /// Runs `body` and ends the process.
  ///
  /// - Parameters:
  ///   - complete: Adds the settings of a configuration file to the command line; see `Program.run`.
  public static func run(
    _ tool: Command,
    complete: (ParsedArguments, inout Diagnostics) throws -> ParsedArguments = {
      arguments, _ in arguments
    },
    body: (ParsedArguments, Diagnostics) throws -> ExitStatus
  ) -> Never {
    var command = tool
    command.problems = problemsAddress
    if let text = GeneratedDocuments.requested(ProcessArguments.current, of: command) {
      let output = StandardOutput()
      do throws(OutputError) {
        try output.write(text)
        try output.flush()
      } catch {
        (error == .closed ? ExitStatus.ok : .failed).exit()
      }
      ExitStatus.ok.exit()
    }
    Program.run(command, complete: complete) { arguments, diagnostics in
      do {
        var diagnostics = diagnostics
        try UserConfiguration.load(for: arguments.title, diagnostics)
        diagnostics.choosePreferredColour()
        if arguments.isGiven("man") || arguments.isGiven("completions") {
          throw arguments.usageError("options --man and --completions must be the only argument")
        }
        return try body(arguments, diagnostics)
      } catch let error as UsageError {
        throw error
      } catch OutputError.closed {
        return .ok
      } catch {
        guard let failure = Failure(error) else { throw error }
        guard failure.status != .ok else { return .ok }
        failure.report(to: diagnostics)
        return failure.status
      }
    }
  }
}
