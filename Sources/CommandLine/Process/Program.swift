import Glibc

/// The part of `main` that all tools share.
package enum Program {
  /// Reads the command line, runs the body and ends the process with the resulting status.
  ///
  /// This function prints `--help` and `--version`, and reports usage errors. The body may throw a
  /// ``UsageError`` (status 64) or an ``OutputError``; ``OutputError/closed`` is no failure. The body should
  /// report its other errors itself and return a status; if it throws one, this function prints its
  /// description and ends with status 1.
  ///
  /// - Parameter complete: Adds the settings of a configuration file to the command line. It may set the
  ///   format of the diagnostics first, so that its own errors are printed in that format.
  package static func run(
    _ command: Command, arguments: [String] = ProcessArguments.current,
    complete: (ParsedArguments, inout Diagnostics) throws -> ParsedArguments = {
      arguments, _ in arguments
    },
    body: (ParsedArguments, Diagnostics) throws -> ExitStatus
  ) -> Never {
    StandardDescriptors.reserve()
    Signals.ignoreFailedWrites()
    ColourChoice.current = ColourChoice(
      noColor: Environment.value("NO_COLOR"), force: Environment.value("CLICOLOR_FORCE"))
    status(
      of: command, arguments, StandardOutput(), Diagnostics(tool: command.name),
      complete: complete, body
    ).exit()
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

/// The exit status of a program; the numbers above 1 are those of BSD's `sysexits.h`.
package struct ExitStatus: RawRepresentable, Sendable, Hashable {
  package let rawValue: Int32

  /// Any status, such as one of another program.
  package init(rawValue: Int32) { self.rawValue = rawValue }

  package static let ok = ExitStatus(rawValue: 0)
  package static let failed = ExitStatus(rawValue: 1)
  package static let usage = ExitStatus(rawValue: 64)
  package static let badData = ExitStatus(rawValue: 65)
  package static let unavailable = ExitStatus(rawValue: 69)
  package static let `internal` = ExitStatus(rawValue: 70)
  package static let outputClosed = ExitStatus(rawValue: 74)
  package static let tryLater = ExitStatus(rawValue: 75)
  package static let notAllowed = ExitStatus(rawValue: 77)
  package static let schema = ExitStatus(rawValue: 78)

  /// The usual meaning of the status, as a phrase for the help.
  package var meaning: String {
    switch self {
    case .ok: "done"
    case .failed: "failed"
    case .usage: "wrong usage"
    case .badData: "bad input data"
    case .unavailable: "database or feed unavailable"
    case .internal: "internal error: please report it"
    case .outputClosed: "the reader of the output has ended"
    case .tryLater: "try again later: a lock is held"
    case .notAllowed: "not allowed"
    case .schema: "database schema missing, newer or modified"
    default: "status \(rawValue)"
    }
  }

  package func exit() -> Never { Glibc.exit(rawValue) }
}

/// Standard input, output and error, which the caller may have closed.
enum StandardDescriptors {
  /// Opens those that are closed. Otherwise the next file or connection would get the number of one of them, and
  /// what the program prints would go to the database.
  ///
  /// Reading standard input and writing to the others then fails, as with a closed descriptor.
  static func reserve() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
      // The lowest free number is this one. It stays open to the end.
      _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
  }
}
