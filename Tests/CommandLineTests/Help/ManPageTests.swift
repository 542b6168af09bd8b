import Testing

@testable import CommandLine

@Suite struct ManPageTests {
  private static let commands = [Sample.ingest, Sample.watch, Sample.admin, Sample.move]

  @Test(.enabled("man is not installed") { OutsideProgram.isInstalled("man") })
  func manHasNothingToComplainAbout() {
    for command in Self.commands {
      let page = command.manPage(date: "2026-03-01", manual: "Quake")
      let result = OutsideProgram.run(
        "LC_ALL=C.UTF-8 man --warnings -l $FILE >/dev/null", input: page)
      #expect(result == (0, ""))
    }
  }

  @Test(.enabled("mandoc is not installed") { OutsideProgram.isInstalled("mandoc") })
  func mandocHasNothingToComplainAbout() {
    let long = Command(
      "long", purpose: String(repeating: "words ", count: 30) + ".dot",
      discussion: String(repeating: "It's long. ", count: 30),
      examples: [.init("long --a", "one"), .init("long --b", "two")])
    for command in Self.commands + [long] {
      let page = command.manPage(date: "2026-03-01", manual: "Quake")
      #expect(OutsideProgram.run("mandoc -Tlint <$FILE", input: page) == (0, ""), "\(command.name)")
    }
  }

  @Test(.enabled("man is not installed") { OutsideProgram.isInstalled("man") })
  func thePageReadsWell() {
    let page = Sample.ingest.manPage(date: "2026-03-01", manual: "Quake")
    let text = OutsideProgram.run("LC_ALL=C.UTF-8 MANWIDTH=80 man -l $FILE", input: page).output
    #expect(text.hasPrefix("QUAKE-INGEST(1)"))
    for expected in [
      "quake-ingest - Load earthquake feeds into PostgreSQL", "quake-ingest run [OPTION]...",
      "quake-ingest import [OPTION]... SOURCE...", "--no-migrate",
      "-f, --feed NAME|URL|FILE", "quake-ingest run --feed all_day --every 5m", "DATABASE_URL",
      "database or feed unavailable", "2026-03-01",
    ] {
      #expect(text.contains(expected), "\(expected)")
    }
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
