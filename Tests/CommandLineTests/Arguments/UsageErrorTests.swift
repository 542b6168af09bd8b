import Testing

@testable import CommandLine

/// Every message for a wrong command line.
@Suite struct UsageErrorTests {
  @Test func anUnknownOptionIsNamedWithTheNearest() {
    let error = Sample.error(Sample.ingest, "run", "--ocne")
    #expect(error?.message == "unknown option '--ocne'")
    #expect(error?.hints == ["did you mean '--once'?", "see 'quake-ingest run --help'"])
    #expect(
      Sample.error(Sample.ingest, "run", "--xyzzy")?.hints == ["see 'quake-ingest run --help'"])
    #expect(Sample.error(Sample.ingest, "run", "--no-migrat")?.suggestion == "--no-migrate")
    #expect(Sample.error(Sample.ingest, "run", "--dry")?.suggestion == "--dry-run")
    #expect(Sample.error(Sample.watch, "--limt=3")?.suggestion == "--limit")
  }

  @Test func anUnknownShortOptionIsNamed() {
    #expect(Sample.error(Sample.watch, "-x")?.message == "unknown option '-x'")
    #expect(Sample.error(Sample.watch, "-qx")?.message == "unknown option '-x' in '-qx'")
    let word = Sample.error(Sample.watch, "-limit")
    #expect(word?.message == "unknown option '-l' in '-limit'")
    #expect(word?.suggestion == "--limit")
  }

  @Test func partsOfANameLeadToIt() {
    for word in ["--minmag", "--mag-min", "--magnitude", "--MinMag", "--min_mag"] {
      #expect(Sample.error(Sample.watch, word)?.suggestion == "--min-magnitude", "\(word)")
    }
    #expect(Sample.error(Sample.watch, "--JSON")?.suggestion == "--json")
    #expect(Sample.error(Sample.watch, "--mag-xyz")?.suggestion == nil)
    #expect(Sample.error(Sample.watch, "-qxv")?.suggestion == nil)
  }

  /// A word processor, or a page that was copied from, makes one long dash of two hyphens.
  @Test func aLongDashWasMeantAsTwoHyphens() {
    for dash in ["—", "–", "––"] {
      #expect(Sample.error(Sample.watch, dash + "limit=3")?.suggestion == "--limit", "\(dash)")
    }
  }

  @Test func anOptionOfASubcommandNamesIt() {
    #expect(
      Sample.error(Sample.ingest, "--evry", "5m", "run")?.suggestion == "quake-ingest run --every")
    #expect(Sample.error(Sample.ingest, "--every=5m")?.suggestion == "quake-ingest run --every")
    #expect(Sample.error(Sample.ingest, "--xyzzy", "run")?.suggestion == nil)
    // Several commands have it, and the line names none of them.
    let group = Command(
      "group", purpose: "Do one of two things",
      subcommands: ["first", "second"].map {
        Command($0, purpose: "Do it", options: [.flag("json", help: "print JSON")])
      })
    #expect(Sample.error(group, "--jsn")?.suggestion == "group COMMAND --json")
    #expect(Sample.error(group, "--jsn", "second")?.suggestion == "group second --json")
  }

  @Test func aMissingValueIsNamed() {
    #expect(
      Sample.error(Sample.ingest, "run", "--every")?.message
        == "option --every needs a value: DURATION")
    #expect(
      Sample.error(Sample.watch, "--after", "--json")?.message
        == "option --after needs a value: TOKEN"
        + " (for a value that begins with a dash write '--after=--json')")
    #expect(
      Sample.error(Sample.watch, "-m", "-j")?.message
        == "option -m needs a value: M (for a value that begins with a dash write '-m-j')")
  }

  @Test func aFlagTakesNoValue() {
    #expect(
      Sample.error(Sample.watch, "--json=yes")?.message
        == "option --json takes no value, but 'yes' is given")
    #expect(
      Sample.error(Sample.watch, "--help=x")?.message
        == "option --help takes no value, but 'x' is given")
  }

  @Test func anOptionGivenTwiceIsRefused() {
    #expect(
      Sample.error(Sample.watch, "--limit", "1", "--limit", "2")?.message
        == "option --limit is given more than once")
    #expect(
      Sample.error(Sample.watch, "-j", "--json")?.message
        == "option --json is given more than once")
    #expect(
      Sample.error(Sample.watch, "--no-follow", "--no-follow")?.message
        == "option --no-follow is given more than once")
  }

  @Test func anUnexpectedArgumentIsNamed() {
    #expect(
      Sample.error(Sample.watch, "now")?.message
        == "unexpected argument 'now': 'quake-watch' takes no arguments")
    #expect(
      Sample.error(Sample.move, "a", "b", "c")?.message
        == "unexpected argument 'c': 'move' takes only FROM [TO]")
  }

  @Test func aMissingArgumentIsNamed() {
    let error = Sample.error(Sample.ingest, "import", "--json")
    #expect(error?.message == "missing argument SOURCE...: a file, a URL or a feed")
    #expect(error?.description.hasSuffix("; see 'quake-ingest import --help'") == true)
    #expect(Sample.error(Sample.move)?.message == "missing argument FROM: where from")
  }

  @Test func anUnknownSubcommandIsNamedWithTheNearest() {
    let error = Sample.error(Sample.admin, "server", "strat")
    #expect(
      error?.message
        == "unknown command 'strat' for 'quake-admin server': expected start, stop or psql")
    #expect(error?.hints == ["did you mean 'start'?", "see 'quake-admin server --help'"])
    #expect(
      Sample.error(Sample.admin, "help", "migrat")?.suggestion == "migrate")
    #expect(
      Sample.error(Sample.admin, "help", "migrate", "x")?.message
        == "'quake-admin migrate' has no command 'x'")
  }

  @Test func aMissingSubcommandIsReported() throws {
    for (command, arguments, message) in [
      (Sample.ingest, [], "'quake-ingest' needs a command: run or import"),
      (Sample.admin, ["server"], "'quake-admin server' needs a command: start, stop or psql"),
    ] {
      guard case .shortHelp(_, let error) = try command.parse(arguments) else {
        throw Sample.UnexpectedAnswer()
      }
      #expect(error.message == message)
    }
  }

  @Test func optionsThatExcludeEachOther() throws {
    let watch = try Sample.run(Sample.watch, "--after", "1.a", "--from-start")
    #expect(
      throws: watch.usageError("options --after and --from-start cannot be used together")
    ) { try watch.requireAtMostOne(of: "after", "from-start", "json") }
    try watch.requireAtMostOne(of: "after", "json")
  }

  @Test(arguments: ["x", "1.5", "", "99999999999999999999", "0x10"])
  func notAWholeNumber(text: String) throws {
    let watch = try Sample.run(Sample.watch, "--limit", text)
    #expect(
      throws: watch.usageError(
        "invalid value '\(text)' for option --limit: expected a whole number")
    ) { try watch.integer("limit") }
  }

  @Test func aValueOutOfRangeIsRefused() throws {
    let watch = try Sample.run(Sample.watch, "--limit", "0", "-m", "11", "--every", "10ms")
    func message(_ expected: String) -> UsageError { watch.usageError(expected) }
    #expect(
      throws: message("invalid value '0' for option --limit: expected a whole number, 1 or more")
    ) { try watch.integer("limit", in: 1...) }
    #expect(
      throws: message(
        "invalid value '11' for option --min-magnitude: expected a number, from -2 to 10")
    ) { try watch.double("min-magnitude", in: -2...10) }
    #expect(
      throws: message(
        "invalid value '11' for option --min-magnitude: expected a number, at most 9.5")
    ) { try watch.double("min-magnitude", in: ...9.5) }
    #expect(
      throws: message(
        "invalid value '10ms' for option --every: expected a duration such as 500ms, 60s, 5m, 1h or"
          + " 2d, 1s or more")
    ) { try watch.duration("every", in: .seconds(1)...) }
    #expect(try watch.integer("limit", in: 0...0) == 0)
    #expect(try watch.double("min-magnitude", in: 0...) == 11)
    #expect(try watch.duration("every") == .milliseconds(10))
  }

  @Test(arguments: ["nan", "inf", "1e999", "0x1p3", "five", "", "1,5"])
  func aValueThatIsNoNumberIsRefused(text: String) throws {
    let watch = try Sample.run(Sample.watch, "-m", text)
    #expect(
      throws: watch.usageError(
        "invalid value '\(text)' for option --min-magnitude: expected a number")
    ) { try watch.double("min-magnitude") }
  }

  @Test(arguments: ["1,2,3", "1,2,3,4,5", "1,2,,4", "a,b,c,d"])
  func aValueThatIsNoBoxIsRefused(text: String) throws {
    let watch = try Sample.run(Sample.watch, "--bbox", text)
    #expect(
      throws: watch.usageError(
        "invalid value '\(text)' for option --bbox: expected 4 numbers separated by commas")
    ) { try watch.doubles("bbox", count: 4) }
  }

  @Test func listsAndChoicesNameTheValuesTheyAccept() throws {
    let words = ["insert", "update", "delete"]
    let watch = try Sample.run(Sample.watch, "--op", "insert,delete", "--op", "update")
    #expect(try watch.list("op", of: words) == ["insert", "delete", "update"])
    let wrong = try Sample.run(Sample.watch, "--op", "insert,updat")
    let error = wrong.usageError(
      "invalid value 'updat' for option --op: expected insert, update or delete",
      suggestion: "update")
    #expect(throws: error) { try wrong.list("op", of: words) }
    let empty = try Sample.run(Sample.watch, "--op", "insert,")
    #expect(
      throws: empty.usageError(
        "invalid value 'insert,' for option --op: expected words separated by commas, none of it empty"
      )
    ) { try empty.list("op") }
    let choice = try Sample.run(Sample.watch, "--after", "delete")
    #expect(try choice.choice("after", of: words) == "delete")
    #expect(throws: UsageError.self) { try choice.choice("after", of: ["x"]) }
  }

  @Test func theNearestNameIsSuggested() {
    #expect(Suggestion.editDistance("kitten", "sitting") == 3)
    #expect(Suggestion.editDistance("", "abc") == 3)
    #expect(Suggestion.editDistance("strat", "start") == 1)
    #expect(Suggestion.nearest(to: "databse", among: ["dry-run", "database"]) == "database")
    #expect(Suggestion.nearest(to: "zzz", among: ["dry-run", "database"]) == nil)
    #expect(Suggestion.nearest(to: "x", among: []) == nil)
  }
}
