import Testing

@testable import CommandLine

/// Messages for a wrong command line, or for a wrong parameter of a URL.
@Suite struct UsageErrorTests {
  @Test(
    arguments: [
      (Sample.ingest, ["run", "--xyzzy"], "unknown option '--xyzzy'"),
      (Sample.watch, ["-qx"], "unknown option '-x' in '-qx'"),
      (Sample.ingest, ["run", "--every"], "option --every needs a value: DURATION"),
      (
        Sample.watch, ["-m", "-j"],
        "option -m needs a value: M (for a value that begins with a dash write '-m-j')"
      ),
      (Sample.watch, ["--json=yes"], "option --json takes no value, but 'yes' is given"),
      (Sample.watch, ["-j", "--json"], "option --json is given more than once"),
      (Sample.watch, ["--limit", "1", "--limit", "2"], "option --limit is given more than once"),
      (Sample.watch, ["now"], "unexpected argument 'now': 'quake-watch' takes no arguments"),
      (
        Sample.move, ["a", "b", "c"],
        "unexpected argument 'c': 'move' takes only FROM [TO]"
      ),
      (
        Sample.ingest, ["import", "--json"], "missing argument SOURCE...: a file, a URL or a feed"
      ),
      (
        Sample.admin, ["server", "strat"],
        "unknown command 'strat' for 'quake-admin server': expected start, stop or psql"
      ),
      (Sample.admin, ["help", "migrate", "x"], "'quake-admin migrate' has no command 'x'"),
    ] as [(Command, [String], String)])
  func aWrongWordIsNamed(command: Command, words: [String], message: String) {
    let error = #expect(throws: UsageError.self) { _ = try command.parse(words) }
    #expect(error?.message == message)
    #expect(error?.hints.last?.hasPrefix("see '\(command.name)") == true)
  }

  @Test(
    arguments: [
      (Sample.ingest, ["run", "--ocne"], "--once"),
      (Sample.ingest, ["run", "--no-migrat"], "--no-migrate"),
      (Sample.ingest, ["run", "--dry"], "--dry-run"), (Sample.watch, ["--limt=3"], "--limit"),
      (Sample.watch, ["-limit"], "--limit"),
      // Parts of a name, in another order or spelling.
      (Sample.watch, ["--minmag"], "--min-magnitude"),
      (Sample.watch, ["--mag-min"], "--min-magnitude"),
      (Sample.watch, ["--Min_Mag"], "--min-magnitude"), (Sample.watch, ["--mag-xyz"], nil),
      // A word processor makes one long dash of two hyphens.
      (Sample.watch, ["—limit=3"], "--limit"), (Sample.watch, ["––limit=3"], "--limit"),
      // An option of a subcommand.
      (Sample.ingest, ["--evry", "5m", "run"], "quake-ingest run --every"),
      (Sample.ingest, ["--every=5m"], "quake-ingest run --every"),
      (Sample.ingest, ["--xyzzy", "run"], nil), (Sample.admin, ["help", "migrat"], "migrate"),
    ] as [(Command, [String], String?)])
  func theNearestNameIsSuggested(command: Command, words: [String], suggestion: String?) {
    let error = #expect(throws: UsageError.self) { _ = try command.parse(words) }
    #expect(error?.suggestion == suggestion)
  }

  @Test func anOptionOfSeveralCommandsNamesNone() {
    let group = Command(
      "group", purpose: "Do one of two things",
      subcommands: ["first", "second"].map {
        Command($0, purpose: "Do it", options: [.flag("json", help: "print JSON")])
      })
    #expect(Sample.error(group, "--jsn")?.suggestion == "group COMMAND --json")
    #expect(Sample.error(group, "--jsn", "second")?.suggestion == "group second --json")
  }

  @Test func aMissingSubcommandIsReported() throws {
    guard case .shortHelp(_, let error) = try Sample.admin.parse(["server"]) else {
      throw Sample.UnexpectedAnswer()
    }
    #expect(error.message == "'quake-admin server' needs a command: start, stop or psql")
  }

  @Test func optionsThatExcludeEachOtherAreNamed() throws {
    let watch = try Sample.run(Sample.watch, "--after", "1.a", "--from-start")
    #expect(
      throws: watch.usageError("options --after and --from-start cannot be used together")
    ) { try watch.requireAtMostOne(of: "after", "from-start", "json") }
    try watch.requireAtMostOne(of: "after", "json")
  }

  /// The expectation in the message about a value that an option refuses; nil if it accepts the value.
  private func refusal(
    _ option: String, _ value: String, _ read: (ParsedArguments) throws -> Void
  ) throws -> String? {
    let watch = try Sample.run(Sample.watch, "--\(option)", value)
    do {
      try read(watch)
      return nil
    } catch let error as UsageError {
      let beginning = "invalid value '\(value)' for option --\(option): expected "
      #expect(error.message.hasPrefix(beginning))
      return String(error.message.dropFirst(beginning.count))
    }
  }

  @Test func aValueThatIsNoNumberIsRefused() throws {
    for text in ["x", "1.5", "", "99999999999999999999", "0x10"] {
      #expect(try refusal("limit", text) { _ = try $0.integer("limit") } == "a whole number")
    }
    for text in ["nan", "inf", "1e999", "0x1p3", "five", "", "1,5"] {
      let reason = try refusal("min-magnitude", text) { _ = try $0.double("min-magnitude") }
      #expect(reason == "a number")
    }
    for text in ["1,2,3", "1,2,3,4,5", "1,2,,4", "a,b,c,d"] {
      let reason = try refusal("bbox", text) { _ = try $0.doubles("bbox", count: 4) }
      #expect(reason == "4 numbers separated by commas")
    }
  }

  @Test func aValueOutOfRangeIsRefused() throws {
    #expect(
      try refusal("limit", "0") { _ = try $0.integer("limit", in: 1...) }
        == "a whole number, 1 or more")
    #expect(
      try refusal("min-magnitude", "11") { _ = try $0.double("min-magnitude", in: -2...10) }
        == "a number, from -2 to 10")
    #expect(
      try refusal("min-magnitude", "11") { _ = try $0.double("min-magnitude", in: ...9.5) }
        == "a number, at most 9.5")
    #expect(
      try refusal("every", "10ms") { _ = try $0.duration("every", in: .seconds(1)...) }
        == "a duration such as 500ms, 60s, 5m, 1h or 2d, 1s or more")
    #expect(try refusal("limit", "0") { _ = try $0.integer("limit", in: 0...0) } == nil)
    // An age needs its unit.
    for (text, expected) in [
      ("30", "an age with its unit, such as 12h or 90d"),
      ("1.5", "an age with its unit, such as 12h or 90d"), ("0", nil), ("0s", nil), ("30d", nil),
      ("1d12h", nil),
    ] {
      #expect(
        try refusal("every", text) { _ = try $0.age("every", in: .zero...) }
          == expected.map { $0 + ", 0s or more" })
    }
  }

  @Test func listsAndChoicesNameTheValuesThatTheyAccept() throws {
    let words = ["insert", "update", "delete"]
    let watch = try Sample.run(Sample.watch, "--op", "insert,delete", "--op", "update")
    #expect(try watch.list("op", of: words) == ["insert", "delete", "update"])
    let wrong = try Sample.run(Sample.watch, "--op", "insert,updat")
    let error = wrong.usageError(
      "invalid value 'updat' for option --op: expected insert, update or delete",
      suggestion: "update")
    #expect(throws: error) { try wrong.list("op", of: words) }
    #expect(
      try refusal("op", "insert,") { _ = try $0.list("op") }
        == "words separated by commas, none of it empty")
    let choice = try Sample.run(Sample.watch, "--after", "delete")
    #expect(try choice.choice("after", of: words) == "delete")
    #expect(throws: UsageError.self) { try choice.choice("after", of: ["x"]) }
  }

  private func read(
    _ parameters: [(name: String, value: String)]
  ) throws(UsageError) -> ParsedArguments {
    try ParsedArguments(
      url: "GET /v1/quakes", options: Sample.watch.options, parameters: parameters)
  }

  @Test func aParameterOfAURLIsReadAsAnOption() throws {
    for name in ["min-magnitude", "min_magnitude"] {
      #expect(try read([(name, "5.5")]).double("min-magnitude") == 5.5)
    }
    #expect(try read([("op", "a,b"), ("op", "c")]).list("op") == ["a", "b", "c"])
    for (text, isGiven) in [("", true), ("true", true), ("1", true), ("false", false)] {
      let arguments = try read([("json", text)])
      #expect(arguments.flag("json") == isGiven && arguments.isGiven("json") == isGiven)
    }
  }

  @Test(
    arguments: [
      (
        [("limit", "x")],
        "invalid value 'x' for parameter limit: expected a whole number, from 1 to 10"
      ),
      ([("json", "yes")], "invalid value 'yes' for parameter json: expected true or false"),
      ([("min-magnitud", "5")], "unknown parameter 'min-magnitud'"),
      (
        [("limit", "1"), ("json", "true")], "parameters limit and json cannot be used together"
      ),
      (
        [("min-magnitude", "1"), ("min_magnitude", "2")],
        "parameter min-magnitude is given more than once"
      ),
    ] as [([(name: String, value: String)], String)])
  func aWrongParameterOfAURLIsNamed(
    parameters: [(name: String, value: String)], message: String
  ) {
    let error = #expect(throws: UsageError.self) {
      let arguments = try read(parameters)
      _ = try arguments.integer("limit", in: 1...10)
      try arguments.requireAtMostOne(of: "limit", "json")
    }
    #expect(error?.message == message)
  }
}
