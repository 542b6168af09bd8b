import Foundation
import TestSupport
import Testing

/// Help, version and usage errors of every tool.
@Suite struct CommandLineTests {
  private static let commands = [
    "quake-ingest run", "quake-watch", "quake-admin", "quake-admin server psql", "quake-query list",
    "quake-serve", "quake-admin events delete",
  ]

  private static func run(_ command: String, _ arguments: String...) throws -> ToolProcess.Outcome {
    let words = command.split(separator: " ").map(String.init)
    return try Tools.run(words[0], words.dropFirst() + arguments)
  }

  @Test func helpIsOnStandardOutput() throws {
    for command in Self.commands {
      let long = try Self.run(command, "--help")
      #expect(long.status == 0 && long.errors.isEmpty, "\(command)")
      // The arguments for psql come last, so the options of quake-admin are before it.
      let isPassedOn = command == "quake-admin server psql"
      let usage = isPassedOn ? "quake-admin server [OPTION]... psql" : command
      for words in ["Usage:\n  \(usage)", "--help"] {
        #expect(long.output.contains(words), "\(long.output)")
      }
      #expect(long.lines.allSatisfy { $0.count <= 80 }, "\(command): no wider than a terminal")
      #expect(
        long.output.hasSuffix(
          "\nReport problems at https://github.com/quake-project/quake/issues.\n"), "\(command)")
      // Before the command it is the same.
      let words = command.split(separator: " ").map(String.init)
      #expect(try Tools.run(words[0], ["help"] + words.dropFirst()).output == long.output)
    }
    #expect(try Self.run("quake-watch", "-h").output == Self.run("quake-watch", "--help").output)
  }

  @Test func eachToolTellsItsVersionAndRefusesAWrongOption() throws {
    let schema = try TestDatabase().value("select max(version) from quake.migration")
    for tool in ["quake-ingest", "quake-watch", "quake-query", "quake-admin", "quake-serve"] {
      let version = try Self.run(tool, "--version")
      #expect(version.status == 0 && version.errors.isEmpty, "\(version.errors)")
      let form =
        #/(\S+) \d+\.\d+\.\d+ \(commit (?:[0-9a-f]{8,}(?:-dirty)?|unknown), schema (\d+)\)\n/#
      let words = version.output.wholeMatch(of: form)
      #expect(words?.1 == tool[...] && words?.2 == schema[...], "\(version.output)")
      let wrong = try Self.run(tool, "--no-such-option")
      #expect(wrong.status == 64 && wrong.output.isEmpty, "\(wrong.errors)")
      #expect(wrong.errors.hasPrefix("\(tool): error: unknown option '--no-such-option'"))
    }
  }
}
