import Testing

@testable import CommandLine

/// Settings of a configuration file beside those of the command line.
@Suite struct SettingTests {
  private func settings(_ entries: KeyValuePairs<String, String>) -> [Setting] {
    entries.enumerated().map {
      Setting($0.element.key, $0.element.value, file: "q.conf", line: $0.offset + 1)
    }
  }

  private func run(
    _ entries: KeyValuePairs<String, String>, _ arguments: [String] = []
  ) throws -> ParsedArguments {
    try Sample.run(Sample.ingest, ["run"] + arguments).completed(by: settings(entries))
  }

  private func error(
    _ entries: KeyValuePairs<String, String>, _ arguments: [String] = []
  ) throws -> UsageError? {
    do {
      _ = try run(entries, arguments)
      return nil
    } catch let error as UsageError {
      return error
    }
  }

  @Test func itCanGiveTheOptionsOfTheCommandLine() throws {
    let said = try run([
      "feed": "all_day@5m", "every": "5m", "once": "yes", "migrate": "no", "database": "x=y",
      "feed": "all_month",
    ])
    #expect(said.strings("feed") == ["all_day@5m", "all_month"])
    #expect(try said.duration("every") == .seconds(300))
    #expect(said.flag("once") && !said.flag("migrate") && !said.flag("dry-run"))
    #expect(said.string("database") == "x=y")
    #expect(try !run(["no-migrate": "on"]).flag("migrate"))
    #expect(try run(["no-migrate": "off"]).flag("migrate"))
    #expect(try !run(["once": "FALSE"]).isGiven("once"))
  }

  @Test func theCommandLineComesFirst() throws {
    let said = try run(
      ["feed": "all_day", "every": "5m", "migrate": "no", "once": "no", "quiet": "yes"],
      ["--feed", "all_hour", "--migrate", "--once", "--verbose"])
    #expect(said.strings("feed") == ["all_hour"])
    #expect(said.string("every") == "5m" && said.flag("migrate") && said.flag("once"))
    #expect(try Diagnostics.verbosity(of: said) == .verbose)
  }

  @Test func errorsNameFileLineAndKey() throws {
    let unknown = try #require(try error(["once": "yes", "evry": "5m"]))
    #expect(
      unknown.message == "q.conf:2: unknown key 'evry': expected the long name of an option")
    #expect(unknown.hints == ["did you mean 'every'?", "see 'quake-ingest run --help'"])
    #expect(try error(["run-dry": "yes"])?.suggestion == "dry-run")
    #expect(
      try error(["every": "5m", "once": "yes", "every": "6m"])?.message
        == "q.conf:3: key 'every' is given more than once, first in line 1")
    #expect(
      try error(["once": "perhaps"])?.message
        == "q.conf:1: invalid value 'perhaps' for key 'once': expected yes or no")
    for name in ["help", "version"] {
      let alone = try #require(try error([name: "yes"]))
      #expect(alone.message.hasSuffix("cannot be in a file: expected on the command line only"))
    }
    // Also if the command line has the option.
    #expect(try error(["once": "perhaps"], ["--once"]) != nil)
  }

  @Test func aValueThatTheProgramRefusesIsFound() throws {
    let said = try run(["once": "yes", "every": "never"])
    #expect(
      throws: UsageError(
        "q.conf:2: invalid value 'never' for key 'every': expected a duration such as 500ms, 60s,"
          + " 5m, 1h or 2d", command: "quake-ingest run")
    ) { try said.duration("every") }
    let typed = try run(["every": "5m"], ["--every", "never"])
    #expect(
      throws: UsageError(
        "invalid value 'never' for option --every: expected a duration such as 500ms, 60s, 5m, 1h"
          + " or 2d", command: "quake-ingest run")
    ) { try typed.duration("every") }
  }
}
