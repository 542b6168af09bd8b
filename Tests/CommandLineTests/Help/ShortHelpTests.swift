import Testing

@testable import CommandLine

/// What a command shows that is not complete, or that is asked for help in other words.
@Suite struct ShortHelpTests {
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
        ], standard: "list"),
      Command("complete", purpose: "For programs", isHidden: true),
    ]
    return tool
  }

  private func help(_ arguments: String...) throws -> String {
    guard case .help(let text) = try Self.tool.parse(arguments) else {
      throw Sample.UnexpectedAnswer()
    }
    return text
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

  @Test func aGroupOfCommandsHasAShortHelp() throws {
    guard case .shortHelp(let text, _) = try Self.tool.parse(["server"]) else {
      throw Sample.UnexpectedAnswer()
    }
    #expect(text.contains("\nFor one of the commands: 'quake-admin help server COMMAND'.\n"))
  }

  @Test func helpWorksBeforeAndAfterEveryCommand() throws {
    for words in [
      ["server", "start"], ["migrate"], ["watchers", "remove"], ["watchers"], ["server"],
    ] {
      guard case .help(let expected) = try Self.tool.parse(words + ["--help"]),
        case .help(let before) = try Self.tool.parse(["help"] + words)
      else { throw Sample.UnexpectedAnswer() }
      #expect(before == expected, "\(words)")
    }
    #expect(try help("server", "help", "start") == help("server", "start", "-h"))
    #expect(try help("help", "--quiet", "migrate") == help("migrate", "-h"))
    // A command that takes no arguments.
    #expect(try help("migrate", "help") == help("migrate", "-h"))
    guard case .help(let watch) = try Sample.watch.parse(["help"]) else {
      throw Sample.UnexpectedAnswer()
    }
    #expect(watch.contains("Usage:\n  quake-watch"))
    // An argument may be called help.
    #expect(try Sample.run(Sample.move, "help").positionals == ["help"])
  }

  @Test func helpNamesThePageForProblems() throws {
    for words in [[], ["server"], ["server", "start"]] {
      guard case .help(let text) = try Self.tool.parse(words + ["--help"]) else {
        throw Sample.UnexpectedAnswer()
      }
      #expect(text.hasSuffix("\nReport problems at https://example.org/problems.\n"))
    }
    #expect(
      Self.tool.manPage(date: "2026-03-01", manual: "Quake").hasSuffix(
        ".SH \"BUGS\"\nReport problems at https://example.org/problems.\n"))
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

  @Test func aHiddenCommandRunsAndIsNotShown() throws {
    let tool = Self.tool
    #expect(try Sample.run(tool, "complete").subcommand == ["complete"])
    #expect(try !help("--help").contains("complete"))
    #expect(!tool.manPage(date: "", manual: "").contains("complete"))
    for shell in Shell.allCases {
      #expect(!tool.completions(for: shell).contains("For programs"))
    }
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
      guard case .run(let arguments) = try command.parse(words) else {
        throw Sample.UnexpectedAnswer()
      }
      return arguments.doubtfulValues.map(\.suggestion)
    }
    #expect(try doubts("--type", "earthqauke") == ["earthquake"])
    #expect(try doubts("--type", "earthquake,icequake") == ["ice quake"])
    // Any other text is valid, and not a mistake.
    #expect(try doubts("--type", "volcanic tremor", "--status", "Reviewed") == [])
    #expect(try doubts("--status", "Not_Seen") == [])
    #expect(try doubts("--status", "Revised") == [])
    #expect(try doubts("--status", "reveiwed") == ["reviewed"])
  }

  @Test func colourIsTheChoiceOfThePerson() {
    #expect(ColourChoice(noColor: nil, force: nil) == .automatic)
    #expect(ColourChoice(noColor: "1", force: "1") == .never)
    #expect(ColourChoice(noColor: "", force: "1") == .always)
    #expect(ColourChoice(noColor: nil, force: "0") == .automatic)
    #expect(Option.colour.shownName == "--[no-]color")
  }
}
