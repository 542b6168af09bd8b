import Testing

@testable import CommandLine

@Suite struct CompletionTests {
  /// The candidates for the last word, without their purposes.
  private func offered(_ command: Command, _ words: String...) -> [String] {
    Candidates(command, words).lines.map {
      $0.hasPrefix("\t") ? $0 : String($0.prefix { $0 != "\t" })
    }
  }

  @Test func theTableOffersWhatFits() {
    #expect(offered(Sample.ingest, "") == ["run", "import"])
    #expect(Candidates(Sample.ingest, ["i"]).lines.last == "import\tLoad files once")
    #expect(offered(Sample.ingest, "--database", "run", "") == ["run", "import"])
    #expect(offered(Sample.ingest, "--database", "=", "run", "") == ["run", "import"])
    #expect(offered(Sample.ingest, "--database=run", "") == ["run", "import"])
    #expect(offered(Sample.ingest, "run", "--feed", "all_d") == ["all_hour", "all_day"])
    #expect(offered(Sample.ingest, "run", "--feed", "=") == ["all_hour", "all_day"])
    #expect(offered(Sample.ingest, "run", "--feed", "=", "all_h") == ["all_hour", "all_day"])
    #expect(offered(Sample.ingest, "run", "--feed=all_h") == ["all_hour", "all_day"])
    #expect(offered(Sample.ingest, "run", "--every", "") == [])
    #expect(offered(Sample.ingest, "import", "x", "/etc/pass") == ["\tfiles"])
    #expect(offered(Sample.ingest, "import", "--", "-") == ["\tfiles"])
    #expect(offered(Sample.admin, "server", "st") == ["start", "stop", "psql"])
    #expect(offered(Sample.admin, "server", "psql", "--li") == [])
    #expect(offered(Sample.watch, "--batch", "--fr").contains("--from-start"))
    #expect(offered(Sample.watch, "--batch", "") == [])
  }

  private static let values = Command(
    "list", purpose: "List",
    options: [
      .value(
        "columns", "COLUMN,...", completion: .words(["time", "magnitude", "place"]), help: "which"),
      .value(
        "type", "TYPE,...", completion: .usually(["earthquake", "quarry blast"]), help: "which"),
      .value(
        "feed", "FEED", repeatable: true,
        completion: .found(stored: "feeds", or: ["all_day", "all_hour"], files: true),
        help: "which"),
      .limit(help: "how many"), .colour,
    ],
    positionals: [
      Positional("ACTION", .optional, completion: .words(["apply", "discard"]), help: "what"),
      Positional("ID", .optional, completion: .found(stored: "imports"), help: "which"),
    ])

  @Test func theTableOffersValues() {
    // In a list, what follows the last comma and is not in the list.
    #expect(offered(Self.values, "--columns", "time,") == ["time,magnitude", "time,place"])
    #expect(offered(Self.values, "--columns", "=", "time,pl") == ["time,magnitude", "time,place"])
    #expect(offered(Self.values, "--type=quarry\\ blast,e") == ["quarry blast,earthquake"])
    #expect(offered(Self.values, "--feed", "") == ["all_day", "all_hour", "\tfiles"])
    // Each argument has its own values.
    #expect(offered(Self.values, "") == ["apply", "discard"])
    #expect(Candidates(Self.values, ["apply", ""]).stored == "imports")
    #expect(Candidates(Self.values, ["--limit", "5", "apply", "1"]).stored == "imports")
    #expect(Candidates(Self.values, ["apply", "17", ""]) == Candidates(Self.values, ["-n", ""]))
    // What is given already is not offered again, under any of its names.
    let options = ["--columns", "--type", "--feed", "-n", "--limit", "--color", "--no-color"]
    #expect(offered(Self.values, "-") == options + ["-h", "--help"])
    #expect(
      offered(Self.values, "-n", "5", "--no-color", "--feed", "x", "--help", "--")
        == ["--columns", "--type", "--feed"])
  }

  @Test func storedNamesAreOfferedAsTheyAreTyped() {
    var candidates = Candidates(Self.values, ["--feed", ""])
    candidates.add(stored: ["volcanoes", "$(reboot) x"])
    #expect(candidates.lines == ["all_day", "all_hour", "\tfiles", "volcanoes"])
  }
}
