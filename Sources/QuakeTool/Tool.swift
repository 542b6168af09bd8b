internal import CMigrations
package import CommandLine
internal import Postgres
internal import QuakeSchema

/// The common part of every tool's `main`: read the command line, run, and turn errors into messages and the
/// documented exit status.
package enum Tool {
  package static let commonOptions: [Option] =
    [DatabaseAccess.option, .quiet, .verbose, .colour, .logFormat] + GeneratedDocuments.options

  package static let exitStatuses: [Command.Outcome] = [
    .init(.ok), .init(.failed), .init(.usage), .init(.badData), .init(.unavailable),
    .init(.internal), .init(.tryLater), .init(.notAllowed), .init(.schema),
  ]

  /// Runs `body` and ends the process.
  ///
  /// - Parameters:
  ///   - completed: What completions offer, if that is more than the command itself.
  ///   - complete: Adds the settings of a configuration file to the command line; see `Program.run`.
  package static func run(
    _ tool: Command, completed: @autoclosure () -> Command? = nil,
    complete: (ParsedArguments, inout Diagnostics) throws -> ParsedArguments = {
      arguments, _ in arguments
    },
    body: (ParsedArguments, Diagnostics) throws -> ExitStatus
  ) -> Never {
    var command = tool
    command.problems = problemsAddress
    command.build = Build.text
    if ProcessArguments.current.first == Candidates.request {
      try? Completer.answer(
        Array(ProcessArguments.current.dropFirst()), of: completed() ?? command)
      ExitStatus.ok.exit()
    }
    if let text = GeneratedDocuments.requested(ProcessArguments.current, of: command) {
      let output = StandardOutput()
      do throws(OutputError) {
        try output.write(text)
        try output.flush()
      } catch {
        if error == .closed { ExitStatus.ok.exit() }
        Diagnostics(tool: command.name).error("\(error)")
        ExitStatus.failed.exit()
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

/// The version of all of Quake's programs, which are built together.
package let productVersion = "0.2.0"

let problemsAddress = "https://github.com/quake-project/quake/issues"

/// When it was released, for the manual pages.
let productDate = "2026-11-26"

package enum TemporaryFolder {
  /// The folder that `TMPDIR` names; `/tmp` if it names none.
  package static var path: String {
    guard let named = Environment.value("TMPDIR"), !named.isEmpty else { return "/tmp" }
    return named
  }

  /// The variable's entry in the help of the tools that use it.
  package static let variable = Command.Variable(
    "TMPDIR", "folder of temporary files; by default /tmp")
}

/// The documents that a tool prints for packagers and `make install`: its manual page and its completion
/// scripts, generated from the same table as its help.
enum GeneratedDocuments {
  static let options: [Option] = [
    .flag("man", help: "print the manual page (as the only argument)")
      .onCommandLineOnly(),
    .value(
      "completions", "SHELL", completion: .words(Shell.allCases.map(\.rawValue)),
      help: "print completions for bash, zsh or fish (as the only argument)"
    ).onCommandLineOnly(),
  ]

  /// The document that the arguments request, or nil if there are other arguments: after a subcommand, the
  /// same words may mean something else.
  static func requested(_ arguments: [String], of command: Command) -> String? {
    if arguments == ["--man"] {
      return command.manPage(date: productDate, manual: "Quake \(productVersion)")
    }
    guard arguments.count == 2, arguments[0] == "--completions",
      let shell = Shell(rawValue: arguments[1])
    else { return nil }
    return command.completions(for: shell)
  }
}

package enum Build {
  /// The commit, such as `1a2b3c4d`, or `1a2b3c4d-dirty` with changes that are not committed; nil if the build was not
  /// told, as that of a folder without git.
  package static let commit: String? = {
    let named = String(cString: quake_commit())
    return named.isEmpty ? nil : named
  }()

  /// Commit and schema, as `--version` states them after the version.
  static var text: String { "\(commitText), schema \(Migrator.knownVersion)" }

  /// A program with version and commit, as the ledger of migrations records it.
  package static func program(_ tool: String) -> String {
    "\(tool) \(productVersion) (\(commitText))"
  }

  private static var commitText: String { "commit \(commit ?? "unknown")" }
}

extension PrometheusText {
  package mutating func buildInfo() {
    gauge(
      "quake_build_info", "Version, commit and schema of the program that writes these metrics.",
      [
        Sample(
          1,
          [
            "version": productVersion, "commit": Build.commit ?? "unknown",
            "schema": "\(Migrator.knownVersion)",
          ])
      ])
  }
}
