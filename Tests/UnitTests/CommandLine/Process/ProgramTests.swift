import Basics
import Glibc
import TestSupport
import Testing

import struct CommandLine.ExitStatus  // and not the one of Testing

@testable import CommandLine

extension TerminalTests {
  /// Diagnostics erase the progress line, whichever test has drawn it.
  @Suite struct ProgramTests {
    private struct OtherError: Error, CustomStringConvertible {
      let description = "it broke"
    }

    /// Runs a command line and returns its status, output and messages.
    private func run(
      _ arguments: [String], of command: Command = Sample.watch,
      _ body: (ParsedArguments, Diagnostics) throws -> ExitStatus
    ) throws -> (status: ExitStatus, output: String, messages: String) {
      let output = try Pipe()
      let messages = try Pipe()
      let status = Program.status(
        of: command, arguments, StandardOutput(descriptor: output.writeEnd),
        Diagnostics(tool: "quake-watch", descriptor: messages.writeEnd), body)
      return (status, output.contents(), messages.contents())
    }

    @Test func helpAndVersionGoToStandardOutput() throws {
      let help = try run(["--help"]) { _, _ in .failed }
      #expect(help.status == .ok && help.messages.isEmpty)
      #expect(help.output == Sample.watch.help())
      let version = try run(["--version"]) { _, _ in .failed }
      #expect(version == (.ok, "quake-watch 1.2.3\n", ""))
    }

    @Test func usageErrorsAreStatus64() throws {
      let wrong = try run(["--jsn"]) { _, _ in .ok }
      #expect(wrong.status == .usage && wrong.output.isEmpty)
      #expect(
        wrong.messages == """
          quake-watch: error: unknown option '--jsn'
            hint: did you mean '--json'?
            hint: see 'quake-watch --help'

          """)
      let late = try run(["--limit", "x"]) { arguments, _ in
        _ = try arguments.integer("limit")
        return .ok
      }
      #expect(late.status == .usage)
    }

    @Test func aToolThatNeedsNoArgumentIntroducesItself() throws {
      var watch = Sample.watch
      watch.examples = [.init("quake-watch --limit 1", "the next change")]
      let alone = try run([], of: watch) { _, diagnostics in
        diagnostics.note("at work")
        return .ok
      }
      #expect(alone.status == .ok && alone.output.isEmpty)
      #expect(
        alone.messages.contains("\nExamples:\n  # the next change\n  quake-watch --limit 1\n"))
      #expect(alone.messages.hasSuffix("\n\nquake-watch: at work\n"))
      #expect(!alone.messages.contains("COMMAND"))
      for arguments in [["--limit", "2"], ["--quiet"]] {
        #expect(try run(arguments, of: watch) { _, _ in .ok } == (.ok, "", ""))
      }
    }

    @Test func theBodyDecidesTheStatus() throws {
      #expect(try run([]) { _, _ in .tryLater }.status == .tryLater)
      #expect(try run([]) { _, _ in throw OutputError.closed } == (.ok, "", ""))
      #expect(
        try run([]) { _, _ in throw OtherError() }
          == (.failed, "", "quake-watch: error: it broke\n"))
      let full = try run([]) { _, _ in throw OutputError.failed(code: ENOSPC) }
      #expect(full.status == .failed && full.messages.contains("No space left on device"))
    }

    @Test func verbosityIsHandedToTheBody() throws {
      _ = try run(["-q"]) { _, diagnostics in
        #expect(diagnostics.verbosity == .quiet)
        return .ok
      }
      #expect(try run(["-qv"]) { _, _ in .ok }.status == .usage)
    }

    /// In a process of its own: setenv(3) may move the variables while another test copies them.
    @Test func theEnvironmentIsRead() throws {
      var process = ChildProcess(Tools.probe, ["environment"])
      process.environment = .inherited(["COMMAND_LINE_TEST": "", "COMMAND_LINE_NONE": nil])
      process.timeout = .seconds(180)
      #expect(try process.run().ending == .exited(7))
    }
  }
}

/// Each runs `Tests/TestProbe` in a process of its own, since signals belong to the whole process.
/// (The testing library's exit tests wait for any child of the process, which may be one of another
/// suite.)
@Suite struct SignalsTests {
  @Test(
    arguments: [
      ("int-after-term", .exited(130)), ("term-twice", .exited(143)), ("wake", .exited(7)),
      ("readable", .exited(7)), ("defaults", .signalled(SIGTERM)),
      ("hang-up-twice", .exited(7)), ("hang-up-ignored", .exited(7)),
    ] as [(String, ChildProcess.Ending)])
  func eachScenarioOfSignalsEndsAsExpected(name: String, ending: ChildProcess.Ending) throws {
    var process = ChildProcess(Tools.probe, [name])
    process.timeout = .seconds(180)
    #expect(try process.run().ending == ending)
  }
}
