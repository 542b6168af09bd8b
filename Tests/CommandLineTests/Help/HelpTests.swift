import Testing

@testable import CommandLine

@Suite struct HelpTests {
  private func help(_ command: Command, _ arguments: String...) throws -> String {
    guard case .help(let text) = try command.parse(arguments) else {
      throw Sample.UnexpectedAnswer()
    }
    return text
  }

  @Test func theHelpOfASubcommandIsComplete() throws {
    #expect(
      try help(Sample.ingest, "run", "--help") == """
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

  @Test func theHelpOfAToolListsItsCommands() throws {
    #expect(
      try help(Sample.admin, "--help") == """
        Look after the database

        Usage:
          quake-admin [OPTION]... COMMAND

        Commands:
          migrate  Bring the schema up to date
          server   Control the embedded server

        Options:
              --database URL  PostgreSQL to connect to (default: the embedded server)
          -q, --quiet         print the result, warnings and errors only
          -v, --verbose       also print the details of the work
          -h, --help          show this help
              --version       show the version

        For one of the commands: 'quake-admin COMMAND --help'.

        """)
  }

  @Test func theHelpShowsArgumentsThatArePassedThrough() throws {
    #expect(
      try help(Sample.admin, "server", "psql", "--help")
        .contains("\nUsage:\n  quake-admin server [OPTION]... psql [ARGUMENT]...\n"))
  }

  @Test func anOptionalValueIsInBrackets() throws {
    #expect(
      try help(Sample.watch, "--help")
        .contains(" --batch [COMMAND]  "))
  }

  @Test func argumentsAreExplained() throws {
    #expect(
      try help(Sample.ingest, "import", "--help")
        .contains("\nArguments:\n  SOURCE  a file, a URL or a feed\n"))
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
}
