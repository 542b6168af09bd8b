import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// How long readers and administrators wait in a store with a history of years: 2,000,000 versions, or as many as
/// `QUAKE_SOAK_VERSIONS` says. docs/benchmarks.md has figures.
@Suite(.enabled(if: Tools.isSoak, "make soak has it"))
struct HistoryOfYearsTests {
  private static let versions =
    ProcessInfo.processInfo.environment["QUAKE_SOAK_VERSIONS"].flatMap(Int.init) ?? 2_000_000

  private let server: ToolServer
  private let connection: Connection

  init() throws {
    server = try ToolServer(isInitialised: true)
    // For pg_basebackup.
    _ = try Tools.shell(
      "echo 'local replication all trust' >> '\(server.home)/data/pg_hba.conf'")
    try server.embedded.start()
    connection = try Connection(
      ConnectionSettings(server.embedded.conninfo, applicationName: "tests"))
    try Tools.succeed("quake-admin", ["migrate", "--database", server.embedded.conninfo])
  }

  @Test func readersOfTenYearsWaitNoLongerThanThoseOfADay() throws {
    try load()
    for isFirst in [true, false] {
      // A server keeps its answers, so that the second needs to be another one.
      let service = try ServerProcess(["--database", server.embedded.conninfo])
      for question in Self.questions { try ask(question, service, isFirst) }
      try askForTokens(isFirst)
      try askForDifferences(isFirst)
      try service.stop()
    }
    try maintain()
  }

  private func load() throws {
    try connection.run("alter system set fsync = off", "select pg_reload_conf()")
    try time("loading") { try YearsOfHistory.load(events: Self.versions / 5, over: connection) }
    try connection.run("alter system reset fsync", "select pg_reload_conf()", "checkpoint")
    try time("noting where events have been") {
      while try connection.ask("select quake.note_past(1000)") == "f" {}
    }
    try time("vacuum") { try connection.run("vacuum (analyze)") }
    let counts = try connection.table(
      """
      select (select count(*) from quake.quake_version), (select count(*) from quake.change_transaction),
             (select count(*) from quake.quake), pg_size_pretty(pg_database_size(current_database()))
      """)
    print("versions, transactions, events, size: \(counts)")
    // The figures mean little beside other work.
    print("load: \(try contents(of: "/proc/loadavg"))", terminator: "")
  }

  /// A question about each of five years, and how long its answer may take: the first time, when what it needs may have to
  /// come from the disk, and the second.
  private struct Question {
    let name: String
    let limit, firstLimit: Duration
    let path: @Sendable (_ year: Int) -> String

    init(
      _ name: String, _ limit: Duration, first: Duration? = nil,
      _ path: @escaping @Sendable (_ year: Int) -> String
    ) {
      (self.name, self.limit, self.path) = (name, limit, path)
      firstLimit = first ?? limit
    }
  }

  private static let years = stride(from: 1, to: 10, by: 2).map { YearsOfHistory.firstYear + $0 }

  private static let questions = [
    Question("a page of a week as of a time", .seconds(1)) {
      "/v1/quakes?as-of=\($0)-06-15T12:00:00Z&from=\($0)-02-01&to=\($0)-02-08&limit=100"
    },
    Question("a page of an area as of a time", .seconds(1)) {
      "/v1/quakes?as-of=\($0)-06-15T12:00:00Z&within=300:-26.3,-113.5&limit=100"
    },
    Question("the newest page as of a time", .seconds(1)) {
      "/v1/quakes?as-of=\($0)-06-15T12:00:00Z&limit=100"
    },
    Question("an event as of a time", .milliseconds(50)) {
      "/v1/quakes?as-of=\($0)-06-15T12:00:00Z&code=ci\(versions / 50 * ($0 - YearsOfHistory.firstYear))"
    },
    Question("figures of a month as of a time", .seconds(5), first: .seconds(20)) {
      "/v1/stats?as-of=\($0)-06-15T12:00:00Z&from=\($0)-02-01&to=\($0)-03-01"
    },
    Question("figures of a month", .seconds(1)) {
      "/v1/stats?from=\($0)-02-01&to=\($0)-03-01"
    },
    Question("the versions of an event", .milliseconds(50)) {
      "/v1/quakes/ci\(Self.versions / 50 * ($0 - YearsOfHistory.firstYear))/versions"
    },
    Question(
      "the first page of the differences of a day", .milliseconds(50), first: .milliseconds(200)
    ) {
      "/v1/diff?from=\($0)-06-15&to=\($0)-06-16&limit=100"
    },
    Question("the first page after a time", .milliseconds(50), first: .milliseconds(100)) {
      "/v1/history?after=\($0)-06-15T12:00:00Z&limit=100"
    },
  ]

  private func ask(_ question: Question, _ service: ServerProcess, _ isFirst: Bool) throws {
    let limit = isFirst ? question.firstLimit : question.limit
    try measure(question.name, limit, isFirst) { year in
      let path = question.path(year)
      let answer = try service.get(path)
      let text = answer.text
      try #require(answer.status == 200, "\(path): \(text.prefix(500))")
      // An empty answer would say nothing.
      let hasCount = text.contains(#""count":"#) && !text.contains(#""count":0"#)
      #expect(hasCount || text.contains(#""ci"#), "\(path)")
    }
  }

  private func askForTokens(_ isFirst: Bool) throws {
    try measure("the token of a time", .milliseconds(50), isFirst) { year in
      let token = try connection.ask("select quake.token_at('\(year)-06-15T12:00:00Z')")
      #expect(token != "0")
    }
  }

  /// The function of SQL gives all differences at once.
  private func askForDifferences(_ isFirst: Bool) throws {
    try measure("all differences of a day", .seconds(isFirst ? 5 : 1), isFirst) { year in
      let count = try connection.ask(
        """
        select count(*) from quake.difference(quake.token_at('\(year)-06-15'), quake.token_at('\(year)-06-16'))
        """)
      #expect(count != "0")
    }
  }

  /// Asks about each of the years.
  private func measure(
    _ name: String, _ limit: Duration, _ isFirst: Bool, _ ask: (_ year: Int) throws -> Void
  ) throws {
    let times = try Self.years.map { year in
      try ContinuousClock().measure { try ask(year) }
    }.sorted()
    let median = times[times.count / 2]
    print(
      "\(name), \(isFirst ? "first" : "again"): median \(median), slowest \(times[times.count - 1])"
    )
    #expect(median <= limit, "\(name)")
  }

  private func time(_ name: String, _ body: () throws -> Void) throws {
    let time = try ContinuousClock().measure(body)
    print("\(name): \(time)")
  }

  /// Backup and restore, and a purge of the first half, which gives its space back.
  ///
  /// The restored database takes the place of the other, and the base backup is compressed: two such databases could be
  /// too much for the disk.
  private func maintain() throws {
    let folder = server.folder.path
    let programs = try server.embedded.binDirectory
    let address = server.embedded.conninfo
    func run(_ name: String, _ program: String, _ arguments: [String]) throws {
      try time(name) {
        try ToolProcess(program, arguments, environment: Tools.environment).exit(
          within: .seconds(36_000)
        ).requireSuccess()
      }
    }
    try run(
      "pg_basebackup", "\(programs)/pg_basebackup",
      ["-c", "fast", "-Ft", "--compress=server-lz4", "-D", "\(folder)/base", "-d", address])
    TestFolders.remove("\(folder)/base")
    try run(
      "pg_dump", "\(programs)/pg_dump",
      ["-Fd", "-j2", "-f", "\(folder)/dump", "-d", address])
    let other = try Connection(
      ConnectionSettings(
        address.replacing("dbname=quake", with: "dbname=postgres"), applicationName: "tests"))
    try other.run(
      "drop database quake with (force)", "create database quake template template0")
    try run(
      "pg_restore", "\(programs)/pg_restore", ["-j2", "-d", address, "\(folder)/dump"])
    TestFolders.remove("\(folder)/dump")

    let connection = try Connection(ConnectionSettings(address, applicationName: "tests"))
    func size() throws -> Int {
      try #require(Int(connection.ask("select pg_database_size(current_database())") ?? ""))
    }
    let before = try size()
    try run(
      "purge of the first half", Tools.folder + "/quake-admin",
      ["history", "purge", "--before", "2021-01-01", "--yes", "--database", address])
    try time("vacuum after it") { try connection.run("vacuum (analyze)") }
    let vacuumed = try size()
    try time("vacuum full of the versions") {
      try connection.run("vacuum full quake.quake_version, quake.change_transaction")
    }
    let after = try size()
    print("size before \(before), after the purge \(vacuumed), after vacuum full \(after)")
    #expect(after < before * 3 / 4)
  }
}
