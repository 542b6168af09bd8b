import Testing

@testable import CommandLine

@Suite struct HelpTests {
  @Test func theHelpOfASubcommandIsComplete() throws {
    #expect(
      try Sample.help(Sample.ingest, ["run", "--help"]) == """
        Load feeds again and again

        Usage:
          quake-ingest run [OPTION]...

        Runs until it is told to stop.

        A feed that fails is tried again later.

        Options:
          -f, --feed NAME|URL|FILE  feed to load; may be given more than once (default:
                                    all_hour)
              --every DURATION      how long to wait between two rounds (default: 60s)
              --once                load each feed once and end
              --no-migrate          do not change the database schema
          -n, --dry-run             say what would be done, and do nothing

        Common options:
              --database URL  PostgreSQL to connect to (default: the embedded server)
          -q, --quiet         print the result, warnings and errors only
          -v, --verbose       also print the details of the work
          -h, --help          show this help
              --version       show the version

        Examples:
          # the last hour, every minute
          quake-ingest run
          # the last day, every five minutes
          quake-ingest run --feed all_day --every 5m

        Environment:
          DATABASE_URL  PostgreSQL to connect to, unless --database is given

        Exit status:
          0   done
          1   failed
          64  wrong usage
          69  database or feed unavailable

        """)
  }

  @Test(arguments: [80, 90, 100])
  func noLineIsTooLong(width: Int) {
    let long = String(repeating: "words that go on ", count: 20)
    let command = Command(
      "long", purpose: long, discussion: long,
      options: [.value("an-option-with-quite-a-long-name", "PLACEHOLDER", help: long)],
      environment: [.init("NAME", long)])
    let lines = command.help(width: width).split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= width })
    #expect(lines.contains { $0.count > width - 20 })
    #expect(lines.allSatisfy { $0.last != " " })
  }

  private static var tool: Command {
    var tool = Sample.admin
    tool.problems = "https://example.org/problems"
    tool.examples = [.init("quake-admin migrate", "bring the schema up to date")]
    tool.subcommands += [
      Command(
        "watchers", purpose: "List or remove watchers",
        subcommands: [
          Command("list", purpose: "List them", options: [.flag("json", help: "as JSON")]),
          Command(
            "remove", purpose: "Remove them", options: [.flag("yes", help: "do not ask")],
            positionals: [Positional("NAME", .oneOrMore, help: "a watcher")]),
        ], standard: "list")
    ]
    return tool
  }

  private func help(_ arguments: String...) throws -> String {
    try Sample.help(Self.tool, arguments)
  }

  @Test(arguments: [[], ["--quiet"]])
  func withoutACommandTheExamplesComeFirst(arguments: [String]) throws {
    guard case .shortHelp(let text, _) = try Self.tool.parse(arguments) else {
      throw Sample.UnexpectedAnswer()
    }
    #expect(
      text == """
        quake-admin: Look after the database

        Examples:
          # bring the schema up to date
          quake-admin migrate

        Commands:
          migrate   Bring the schema up to date
          server    Control the embedded server
          watchers  List or remove watchers

        For one of the commands: 'quake-admin help COMMAND'.

        All options: 'quake-admin --help'.

        Report problems at https://example.org/problems.

        """)
  }

  @Test func helpWorksBeforeAndAfterEveryCommand() throws {
    for words in [
      ["server", "start"], ["migrate"], ["watchers", "remove"], ["watchers"], ["server"],
    ] {
      let expected = try Sample.help(Self.tool, words + ["--help"])
      #expect(try Sample.help(Self.tool, ["help"] + words) == expected, "\(words)")
    }
    #expect(try help("server", "help", "start") == help("server", "start", "-h"))
    #expect(try help("help", "--quiet", "migrate") == help("migrate", "-h"))
    // A command that takes no arguments.
    #expect(try help("migrate", "help") == help("migrate", "-h"))
    #expect(try Sample.help(Sample.watch, ["help"]).contains("Usage:\n  quake-watch"))
    // An argument may be called help.
    #expect(try Sample.run(Sample.move, "help").positionals == ["help"])
  }

  @Test func aGroupMayHaveADefaultCommand() throws {
    let tool = Self.tool
    #expect(try Sample.run(tool, "watchers").path == ["quake-admin", "watchers", "list"])
    let json = try Sample.run(tool, "watchers", "--json")
    #expect(json.flag("json") && json.subcommand == ["watchers", "list"])
    #expect(try Sample.run(tool, "watchers", "list", "--json").flag("json"))
    #expect(
      try Sample.run(tool, "watchers", "remove", "a", "b", "--yes").positionals == ["a", "b"])
    #expect(
      Sample.error(tool, "watchers", "--json", "remove", "a")?.message
        == "unknown option '--json'")
  }

  @Test func aCommandWrittenAsAnOptionGetsASuggestion() {
    let error = Sample.error(Self.tool, "watchers", "--remove", "a")
    #expect(error?.message == "unknown option '--remove'")
    #expect(error?.suggestion == "quake-admin watchers remove")
  }

  @Test func valuesNearAUsualOneAreDoubtful() throws {
    let command = Command(
      "list", purpose: "List",
      options: [
        .value(
          "type", "TYPE,...", repeatable: true, completion: .usually(["earthquake", "ice quake"]),
          help: "of these types"),
        .value(
          "status", "STATUS",
          completion: .usually(["reviewed", "not seen"], anySpelling: true, synonyms: ["revised"]),
          help: "of this"),
      ])
    func doubts(_ words: String...) throws -> [String] {
      try Sample.run(command, words).doubtfulValues.map(\.suggestion)
    }
    #expect(try doubts("--type", "earthqauke") == ["earthquake"])
    #expect(try doubts("--type", "earthquake,icequake") == ["ice quake"])
    // Any other text is valid, and not a mistake.
    #expect(try doubts("--type", "volcanic tremor", "--status", "Reviewed") == [])
    #expect(try doubts("--status", "Not_Seen") == [])
    #expect(try doubts("--status", "Revised") == [])
    #expect(try doubts("--status", "reveiwed") == ["reviewed"])
  }

  @Test func roffCharactersAreEscaped() {
    let command = Command(
      "odd", purpose: ".dot", discussion: "'quote' \\back-slash",
      examples: [.init("odd --a \"b c\" ~ ^", "tilde")])
    let page = command.manPage(date: "d", manual: "A \"manual\"")
    #expect(page.hasPrefix(#".TH "ODD" "1" "d" "odd" "A \(dqmanual\(dq""#))
    #expect(page.contains("\nodd \\- .dot\n"))
    #expect(page.contains("\n\\&\\(aqquote\\(aq \\eback\\-slash\n"))
    #expect(page.contains(#"\fBodd \-\-a "b c" \(ti \(ha\fR"#))
  }
}
