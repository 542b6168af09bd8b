import Glibc
import TestSupport
import Testing

/// The version of every tool, and what it says about a wrong option.
@Suite struct CommandLineTests {
  @Test func eachToolTellsItsVersionAndRefusesAWrongOption() throws {
    let schema = try TestDatabase().value("select max(version) from quake.migration")
    for tool in ["quake-ingest", "quake-watch", "quake-query", "quake-admin", "quake-serve"] {
      let version = try Tools.run(tool, ["--version"]).expect(0, errors: "")
      let form =
        #/(\S+) \d+\.\d+\.\d+ \(commit (?:[0-9a-f]{8,}(?:-dirty)?|unknown), schema (\d+)\)\n/#
      let words = version.output.wholeMatch(of: form)
      #expect(words?.1 == tool[...] && words?.2 == schema[...], "\(version.output)")
      let wrong = try Tools.run(tool, ["--no-such-option"]).expectFailure(64)
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
    try Tools.start("quake-query", arguments, output: full).exit().expect(
      1, errors: "quake-query: error: could not write output: No space left on device\n")
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

  private static let wrongUses = """
    quake-ingest import
    quake-ingest import --merge mine x
    quake-ingest import --commit-every 0 x
    quake-ingest import --generated yesterday x
    quake-ingest import --timeout 0s x
    quake-ingest run --every never
    quake-ingest run --every 5m
    quake-ingest run --merge x
    quake-ingest run --feed
    quake-ingest run x
    quake-ingest run --timeout -1s
    quake-ingest run --feed all_day@0s
    quake-ingest run --feed all_day --feed all_day@5m
    quake-ingest run --feed all_day --takeover-after 0s
    quake-ingest backfill --from 2020-01-01
    quake-ingest backfill --from 2020-02-01 --to 2020-01-01
    quake-ingest backfill --from 2020-01-01 --to 2999-01-01
    quake-ingest backfill --from 2020-01-01 --to 2020-02-01 --source A:B
    quake-ingest backfill --from 2020-01-01 --to 2020-02-01 --url all_day
    quake-ingest backfill /tmp --rate 5
    quake-ingest backfill --last 7d --from 2020-01-01
    quake-ingest backfill --last 7d --within 35.7,-117.5
    quake-watch --op merge
    quake-watch --bbox 1,2,3
    quake-watch --within 100
    quake-watch --changed colour
    quake-watch --min-magnitude big
    quake-watch --limit 0
    quake-watch --from-start --snapshot
    quake-watch --since soon
    quake-watch --exec ' '
    quake-watch --exec a --exec-batch b
    quake-watch --jobs 2
    quake-watch --exec a --jobs 257
    quake-watch --exec a --exec-failure retry
    quake-watch --exec-batch a --jobs 2
    quake-watch something
    quake-query list --sort depht
    quake-query list --sort time:down
    quake-query list --columns code,depht
    quake-query list --count --codes
    quake-query list --last 1d --from 2024-01-01
    quake-query list --last 7
    quake-query list --from 2024-01-02 --to 2024-01-01
    quake-query list --min-magnitude 5 --max-magnitude 4
    quake-query list --alert purple
    quake-query list --bbox 0,10,1,5
    quake-query list --within 100:95,0
    quake-query list --op insert
    quake-query history --op merge
    quake-query history --after 1 --since 2024-01-01
    quake-query history --transaction 1.00000000 --up-to 0
    quake-query stats --by depth
    quake-query stats --plot
    quake-query stats --by day --completeness 2
    quake-query stats --completeness 13
    quake-query diff 10:00
    quake-query export --format kml --spreadsheet
    """

  @Test func aWrongUseIsAnErrorBeforeAnythingIsDone() throws {
    for command in Self.wrongUses.split(separator: "\n") {
      let outcome = try Tools.shell(
        "exec \(command)", environment: ["DATABASE_URL": "host=/nonexistent"]
      ).expectFailure(64, with: command)
      #expect(outcome.errors.hasPrefix("\(command.prefix { $0 != " " }): error: "), "\(command)")
    }
  }

  @Test(arguments: [
    ("quake-query", ["list", "--as-of=2026-13-01"], "option --as-of"),
    ("quake-query", ["history", "--after", "10:00"], "option --after"),
    ("quake-watch", ["--up-to", "10:00"], "option --up-to"),
    ("quake-watch", ["--exec-batch="], "the command for --exec-batch is empty"),
    ("quake-watch", ["--exec="], "the command for --exec is empty"),
  ])
  func anErrorNamesTheOption(tool: String, arguments: [String], words: String) throws {
    try Tools.run(tool, arguments + ["-d", "host=/nonexistent"]).expect(64, words)
  }
}
