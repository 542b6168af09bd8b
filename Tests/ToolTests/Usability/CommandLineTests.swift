import Glibc
import TestSupport
import Testing

/// The version of every tool, and what it says about a wrong option.
@Suite struct CommandLineTests {
  @Test func eachToolTellsItsVersionAndRefusesAWrongOption() throws {
    let schema = try TestDatabase().value("select max(version) from quake.migration")
    for tool in ["quake-ingest", "quake-watch", "quake-query", "quake-admin", "quake-serve"] {
      let version = try Tools.run(tool, ["--version"])
      #expect(version.status == 0 && version.errors.isEmpty, "\(version.errors)")
      let form =
        #/(\S+) \d+\.\d+\.\d+ \(commit (?:[0-9a-f]{8,}(?:-dirty)?|unknown), schema (\d+)\)\n/#
      let words = version.output.wholeMatch(of: form)
      #expect(words?.1 == tool[...] && words?.2 == schema[...], "\(version.output)")
      let wrong = try Tools.run(tool, ["--no-such-option"])
      #expect(wrong.status == 64 && wrong.output.isEmpty, "\(wrong.errors)")
      #expect(wrong.errors.hasPrefix("\(tool): error: unknown option '--no-such-option'"))
    }
  }

  @Test func theHelpOfTheWatcherNamesItsCommands() throws {
    let help = try Tools.run("quake-watch", ["--help"]).output
    #expect(help.contains("quake-watch run") && help.contains("quake-watch rehearse"), "\(help)")
  }

  /// A script that writes a page of the manual to a full disk learns why it failed.
  @Test(arguments: [["--man"], ["--completions", "bash"], ["--help"], ["--version"]])
  func whatIsPrintedToAFullDiskIsAnError(arguments: [String]) throws {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let outcome = try Tools.start("quake-query", arguments, output: full).exit()
    #expect(outcome.status == 1)
    #expect(
      outcome.errors == "quake-query: error: could not write output: No space left on device\n")
  }

  /// The limit of `ulimit -f` is an error like any other, and no half-written file is left.
  @Test func aLimitOnTheSizeOfFilesIsReported() throws {
    let database = try TestDatabase()
    try database.psql(
      "insert into quake.quake (code, time) select 'e' || i, now() from generate_series(1, 2000) i")
    let folder = try TemporaryFolder()
    let outcome = try Tools.shell(
      """
      echo earlier >e.csv
      ulimit -f 8
      quake-query export --output e.csv -d '\(database.conninfo)' || echo $?
      ls; cat e.csv
      """, folder: folder.path)
    #expect(outcome.output == "1\ne.csv\nearlier\n")
    #expect(
      outcome.errors == """
        quake-query: error: could not write "e.csv"
          detail: File too large.

        """)
  }

  @Test(arguments: [
    ("quake-query", ["list", "--as-of=2026-13-01"], "option --as-of"),
    ("quake-query", ["history", "--after", "10:00"], "option --after"),
    ("quake-watch", ["--up-to", "10:00"], "option --up-to"),
    ("quake-watch", ["--exec-batch="], "the command for --exec-batch is empty"),
    ("quake-watch", ["--exec="], "the command for --exec is empty"),
  ])
  func anErrorNamesTheOption(tool: String, arguments: [String], words: String) throws {
    let outcome = try Tools.run(tool, arguments + ["-d", "host=/nonexistent"])
    #expect(outcome.status == 64 && outcome.errors.contains(words), "\(outcome.errors)")
  }
}
