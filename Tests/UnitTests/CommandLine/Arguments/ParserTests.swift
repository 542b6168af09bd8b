import Testing

@testable import CommandLine

@Suite struct ParserTests {
  @Test func valuesFollowOrAreAttached() throws {
    let run = try Sample.run(
      Sample.ingest, "run", "--feed", "a", "--feed=b", "-f", "c", "-fd", "-f=e")
    #expect(run.strings("feed") == ["a", "b", "c", "d", "e"])
    #expect(run.count("feed") == 5)
    #expect(run.path == ["quake-ingest", "run"])
    #expect(run.subcommand == ["run"])
  }

  @Test func anAttachedValueMayHoldEqualsSignsOrNothing() throws {
    #expect(
      try Sample.run(Sample.watch, "--database=postgres://h/d?sslmode=require").string("database")
        == "postgres://h/d?sslmode=require")
    #expect(try Sample.run(Sample.watch, "--database=").string("database") == "")
    #expect(try Sample.run(Sample.watch, "--database", "").string("database") == "")
  }

  @Test func shortFlagsMayStandTogether() throws {
    let run = try Sample.run(Sample.ingest, "run", "-nvf", "x")
    #expect(run.flag("dry-run") && run.flag("verbose"))
    #expect(run.string("feed") == "x")
  }

  @Test func optionsOfACommandHoldBeforeAndAfterItsSubcommands() throws {
    for arguments in [["--database", "d", "run", "-n"], ["run", "-n", "--database", "d"]] {
      let run = try Sample.run(Sample.ingest, arguments)
      #expect(run.string("database") == "d" && run.flag("dry-run"))
    }
    #expect(
      Sample.error(Sample.ingest, "--once", "run")?.message == "unknown option '--once'")
  }

  @Test func togglesCanBeTurnedOffAndOn() throws {
    #expect(try Sample.run(Sample.ingest, "run").flag("migrate"))
    #expect(try Sample.run(Sample.ingest, "run", "--migrate").flag("migrate"))
    #expect(try !Sample.run(Sample.ingest, "run", "--no-migrate").flag("migrate"))
    #expect(
      Sample.error(Sample.ingest, "run", "--no-once")?.message == "unknown option '--no-once'")
    #expect(
      Sample.error(Sample.ingest, "run", "--no-migrate", "--migrate")?.message
        == "options --migrate and --no-migrate contradict each other")
  }

  @Test func anOptionalValueMayBeLeftOut() throws {
    for (words, value) in [
      (["--batch"], nil), (["--batch", "a b"], "a b"), (["--batch=-x"], "-x"), (["--batch="], ""),
      (["--batch", "--json"], nil), (["--batch", "-j"], nil), (["--json", "--batch", "-"], "-"),
    ] as [([String], String?)] {
      let parsed = try Sample.run(Sample.watch, words)
      #expect(parsed.isGiven("batch") && parsed.flag("batch"), "\(words)")
      #expect(parsed.string("batch") == value, "\(words)")
      #expect(parsed.flag("json") == (words.contains("--json") || words.contains("-j")))
    }
    #expect(try !Sample.run(Sample.watch).isGiven("batch"))
    #expect(
      Sample.error(Sample.watch, "--batch", "a", "b")?.message
        == "unexpected argument 'b': 'quake-watch' takes no arguments")
    #expect(
      Sample.error(Sample.watch, "--batch", "--batch", "a")?.message
        == "option --batch is given more than once")
  }

  @Test func aDoubleDashEndsTheOptions() throws {
    let parsed = try Sample.run(Sample.ingest, "import", "--json", "--", "--json", "-x", "--")
    #expect(parsed.positionals == ["--json", "-x", "--"])
  }

  @Test func negativeNumbersAreValues() throws {
    #expect(try Sample.run(Sample.watch, "--min-magnitude", "-1").double("min-magnitude") == -1)
    #expect(try Sample.run(Sample.watch, "-m", "-.5").double("min-magnitude") == -0.5)
    #expect(try Sample.run(Sample.watch, "-m-2").double("min-magnitude") == -2)
    #expect(
      try Sample.run(Sample.watch, "--bbox", "-125,32.5,-114,42").doubles("bbox", count: 4)
        == [-125, 32.5, -114, 42])
    #expect(try Sample.run(Sample.ingest, "import", "-5").positionals == ["-5"])
  }

  @Test(arguments: [
    (["server", "psql", "-c", "select 1", "--quiet"], ["-c", "select 1", "--quiet"]),
    (["server", "psql", "--", "--help"], ["--help"]),
    (["server", "psql", "x", "--help"], ["x", "--help"]),
    (["server", "psql"], []),
    (["--quiet", "server", "psql", "--json", "--"], ["--json", "--"]),
  ])
  func argumentsArePassedThrough(arguments: [String], expected: [String]) throws {
    let parsed = try Sample.run(Sample.admin, arguments)
    #expect(parsed.positionals == expected)
    #expect(parsed.flag("quiet") == (arguments.first == "--quiet"))
  }

  @Test(arguments: [
    (["--help"], "quake-admin"), (["-h"], "quake-admin"), (["help"], "quake-admin"),
    (["server", "--help"], "quake-admin server"),
    (["server", "start", "-qh"], "quake-admin server start"),
    (["help", "server", "stop"], "quake-admin server stop"),
    (["server", "help", "psql"], "quake-admin server"),
    (["server", "psql", "--help"], "quake-admin server"),
    (["migrate", "--help", "--nonsense"], "quake-admin migrate"),
  ])
  func helpIsAboutTheCommandNamed(arguments: [String], title: String) throws {
    #expect(try Sample.help(Sample.admin, arguments).contains("\nUsage:\n  \(title) "))
  }
}
