import Foundation
import TestSupport
import Testing

/// What a person meets who mistypes a word, forgets an argument, or asks before there is anything to ask.
@Suite final class TrapTests: ToolSuite {
  private func run(_ words: String..., environment: [String: String] = [:]) throws
    -> ToolProcess.Outcome
  {
    try Tools.run(
      words[0], words.dropFirst() + database.option, environment: environment)
  }

  private func load(_ count: Int = 3) throws {
    let file = try folder.write("feed.geojson", Feeds.collection(count: count))
    try database.succeed("quake-ingest", ["import", file])
  }

  /// Runs a command on a terminal, by the program script; its input is that of the shell command.
  private func terminal(
    _ command: String, input: String = "/dev/null", environment: [String: String] = [:]
  ) throws -> ToolProcess.Outcome {
    try Tools.shell(
      "script -qec \"\(command)\" /dev/null < '\(input)'",
      environment: ["TERM": "xterm", "NO_COLOR": "1", "DATABASE_URL": database.conninfo].merging(
        environment
      ) { $1 })
  }

  private static let hasScript = access("/usr/bin/script", X_OK) == 0

  // MARK: - No database yet

  @Test func aQuestionNeverCreatesAServer() throws {
    let home = folder.path + "/server"
    func ask(_ command: String) throws {
      try Tools.shell(command, environment: ["QUAKE_SERVER_HOME": home]).expectFailure(
        69, "error: no database here yet: run `quake-ingest run`, or give `-d`\n",
        "\"\(home)\" has no embedded server", with: command)
    }
    for command in [
      "quake-query list", "quake-watch", "quake-serve --listen 127.0.0.1:0",
      "quake-admin history purge --before 1d --yes", "quake-admin migrate --status",
      "quake-admin server psql -c 'select 1'", "quake-admin events delete a --yes",
    ] {
      try ask(command)
      #expect(!FileManager.default.fileExists(atPath: home), "\(command): nothing was created")
    }
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    try ask("quake-query list")
    #expect(try FileManager.default.contentsOfDirectory(atPath: home).isEmpty)
  }

  // MARK: - Terminals

  @Test(.enabled(if: hasScript, "there is no script(1)"))
  func aCommandThatReadsTheTerminalSaysSo() throws {
    // A terminal ends its input after a line only.
    let feed = try folder.write("feed.geojson", Feeds.collection(count: 2) + "\n")
    let imported = try terminal("quake-ingest import -", input: feed)
    #expect(
      imported.output.contains("waiting for a feed on standard input; Ctrl-D ends it"),
      "\(imported.output)")
    #expect(
      try terminal("quake-query show -").output.contains(
        "waiting for ids, one a line, on standard input"))
    // In a pipe nothing is said.
    let piped = try database.run("quake-ingest", ["import", "-"], input: feed).expect(0)
    #expect(!piped.errors.contains("waiting"))
  }

  @Test(.enabled(if: hasScript, "there is no script(1)"))
  func anEmptyResultSaysSoOnATerminal() throws {
    #expect(
      try terminal("quake-query list").output.contains("there are no events; \"quake-ingest run\""))
    try load()
    for (command, words) in [
      ("quake-query list --min-magnitude 9 --json", "no event meets the conditions"),
      ("quake-query stats --by region --plot --min-magnitude 9", "no event meets the conditions"),
      ("quake-query history --op delete", "no change of the history meets the conditions"),
      ("quake-query diff now", "no event differs between these points"),
      ("quake-admin watchers", "there is no named watcher"),
    ] {
      try terminal(command, environment: ["PAGER": ""]).expect(0, printing: words, with: command)
      try Tools.shell(command, environment: ["DATABASE_URL": database.conninfo]).expect(
        0, errors: "", with: command)
    }
    #expect(
      !(try terminal("quake-query list", environment: ["PAGER": ""]).output.contains("no event")))
  }

  @Test(.enabled(if: hasScript, "there is no script(1)"))
  func aPurgeShowsItsProgress() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude)
        select 'e' || n, now(), 1 from generate_series(1, 6000) n;
      update quake.quake set magnitude = 2;
      create function public.slow() returns trigger language plpgsql
        as 'begin perform pg_catalog.pg_sleep(0.6); return null; end';
      create trigger slow after delete on quake.quake_version execute function public.slow();
      """)
    let outcome = try terminal("quake-admin history purge --before 0s --yes").expect(
      0, printing: "removed 6,000 versions of events")
    #expect(outcome.output.contains(/purge: \d+%, [\d,]+ of 6,000 versions/), "\(outcome.output)")
  }

  // MARK: - Suggestions

  @Test func aMistypedWordGetsASuggestion() throws {
    try database.psql(
      """
      insert into quake.feed (name, url) values ('all_hour', 'x');
      insert into quake.quake (code, time) values ('a', now());
      """)
    try #require(run("quake-watch", "--name", "alerts", "--no-follow").status == 0)
    for (command, status, hint) in [
      ("quake-ingest run --feed simulatd", 64, "did you mean 'simulated'?"),
      ("quake-ingest import all_huor", 64, "did you mean 'all_hour'?"),
      ("quake-query list --type earthqauke", 0, "did you mean 'earthquake'?"),
      ("quake-query history --changed plcae", 64, "did you mean 'place'?"),
      ("quake-admin events set magntude=5 a --yes", 64, "did you mean 'magnitude'?"),
      ("quake-query list --as-of yesterdya", 64, "did you mean 'yesterday'?"),
      ("quake-query lsit", 64, "did you mean 'list'?"),
      ("quake-query list --cuont", 64, "did you mean '--count'?"),
      ("quake-admin watchers --remove a", 64, "did you mean 'quake-admin watchers remove'?"),
      ("quake-admin watchers remove alert --yes", 1, "did you mean 'alerts'?"),
      ("quake-admin status --feed all_huor", 1, "did you mean 'all_hour'?"),
    ] as [(String, Int32, String)] {
      try Tools.shell(command, environment: ["DATABASE_URL": database.conninfo]).expect(
        status, "hint: \(hint)", with: command)
    }
    // Types are any text: an unusual one that resembles none is no mistake.
    try run("quake-query", "list", "--type", "volcanic tremor").expect(0, errors: "")
  }

  // MARK: - Times

  @Test func relativeTimesWorkEverywhere() throws {
    try database.psql(
      """
      insert into quake.quake (code, time) values
        ('old', now() - interval '10 days'), ('yesterday', date_trunc('day', now(), 'UTC') - interval '1 h'),
        ('new', now() - interval '1 second');
      """)
    func codes(_ words: String...) throws -> [String] {
      try database.succeed("quake-query", ["list", "--codes"] + words).lines
    }
    #expect(try codes("--from", "7d") == ["new", "yesterday"])
    #expect(try codes("--from", "yesterday", "--to", "today") == ["yesterday"])
    #expect(try codes("--to", "2 weeks ago") == [])
    #expect(try codes("--as-of", "now") == ["new", "yesterday", "old"])
    for words in [
      ["history", "--since", "2 h ago"], ["diff", "yesterday", "now"],
      ["history", "--up-to", "now"],
    ] {
      let outcome = try database.run("quake-query", words).expect(0, with: words)
      #expect(outcome.lines.count == 3, "\(words): \(outcome.errors)")
    }
    let watch = ["--from-start", "--no-follow", "--json"]
    #expect(try database.run("quake-watch", watch + ["--until", "now"]).lines.count == 3)
    #expect(try database.run("quake-watch", watch + ["--until", "1d"]).lines.count == 0)
    #expect(
      try database.run("quake-watch", ["--since", "1h", "--no-follow", "--json"]).lines.count == 3)
    try database.succeed("quake-admin", ["history", "purge", "--dry-run", "--before", "2 h ago"])
  }

  /// A watch that follows ends when the time is over, and prints what was committed before.
  @Test func aWatchEndsAtATime() throws {
    try database.insert("a")
    let end = Date().addingTimeInterval(3).formatted(.iso8601)
    let outcome = try database.run("quake-watch", ["--from-start", "--json", "--until", end])
      .expect(0)
    #expect(outcome.lines.count == 1, "\(outcome.errors)")
    #expect(Date().formatted(.iso8601) >= end)
  }

  // MARK: - What cannot be undone

  @Test func whatCannotBeUndoneNeedsYesWithoutATerminal() throws {
    try load()
    _ = try run("quake-watch", "--name", "alerts", "--no-follow")
    for words in [["history", "purge", "--before", "0s"], ["watchers", "remove", "alerts"]] {
      try database.run("quake-admin", words).expect(
        64, "--yes is needed because there is no terminal to ask on")
    }
    #expect(try database.count("quake.watcher") == 1)
    try run("quake-admin", "history", "purge", "--before", "0s", "--dry-run").expect(0)
    #expect(try run("quake-admin", "watchers", "remove", "alerts", "--yes").status == 0)
    #expect(try database.count("quake.watcher") == 0)
    #expect(try run("quake-admin", "history", "purge", "--before", "0s", "--yes").status == 0)
  }

  @Test(.enabled(if: hasScript, "there is no script(1)"), arguments: ["y", "n"])
  func aTerminalIsAsked(answer: String) throws {
    _ = try run("quake-watch", "--name", "alerts", "--no-follow")
    let input = try folder.write("answer", answer + "\n")
    let outcome = try terminal("quake-admin watchers remove alerts", input: input)
    #expect(
      outcome.output.contains("Remove the cursor of watcher \"alerts\"? [y/N] "),
      "\(outcome.output)")
    #expect(outcome.status == (answer == "y" ? 0 : 1))
    #expect(try database.count("quake.watcher") == (answer == "y" ? 0 : 1))
  }

  // MARK: - Spellings

  @Test func severalEventsAreShownAtOnce() throws {
    try database.psql(
      "insert into quake.quake (code, time) values ('a', now()), ('b', now()), ('c', now());")
    let list = try folder.write("ids", "\u{FEFF}b\n\n c \n")
    func codes(_ words: [String], input: String = "/dev/null") throws -> (Int32, [String]) {
      let outcome = try database.run("quake-query", words, input: input)
      return (
        outcome.status,
        try outcome.lines.compactMap { try JSONLine($0).string("code") }
      )
    }
    #expect(
      try codes(["show", "a", "-", "a", "--json"], input: list) == (0, ["a", "b", "c", "a"]))
    let versions = try database.run("quake-query", ["versions", "c", "-"], input: list).expect(0)
    #expect(versions.lines.count == 3, "\(versions.errors)")
    // An unknown one does not keep the others back.
    #expect(try codes(["show", "x", "b", "--json"]) == (1, ["b"]))
    #expect(try codes(["show", "-", "-"]).0 == 64)
    let text = try run("quake-query", "show", "a", "b")
    #expect(text.output.components(separatedBy: "\n\n").count == 2)
  }

  @Test func outputAndLimitHaveShortNames() throws {
    try load(5)
    let file = folder.path + "/out"
    for (words, count) in [
      (["list", "--json", "-n2"], 2), (["history", "-n", "3"], 3), (["diff", "0"], 5),
      (["export", "--format", "ndjson", "-n", "4"], 4),
    ] {
      let printed = try database.run("quake-query", words)
      try database.run("quake-query", words + ["-o", file]).expect(0, output: "")
      let text = try contents(of: file)
      #expect(text.split(separator: "\n").count == count, "\(words): \(text)")
      #expect(text == printed.output)
    }
    // An error leaves the file as it was, and nothing beside it.
    let before = try contents(of: file)
    #expect(try run("quake-query", "list", "--as-of", "99.00000000", "-o", file).status == 65)
    #expect(try contents(of: file) == before)
    try run("quake-query", "list", "-o", folder.path + "/none/out").expect(1, "could not write \"")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
        "feed.geojson", "out",
      ])
  }
}
