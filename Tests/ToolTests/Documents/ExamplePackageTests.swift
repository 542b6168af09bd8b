import Foundation
import Postgres
import TestSupport
import Testing

/// The programs of the package in `Examples`, which import `QuakeStore` as any other program would.
/// Their build takes most of a minute, so `make examples` and `make soak` run these tests.
@Suite(
  .enabled(if: Tools.isSoak || ProcessInfo.processInfo.environment["QUAKE_EXAMPLES"] != nil),
  .serialized)
struct ExamplePackageTests {
  private static let programs = Result { try build() }

  private let database: TestDatabase
  private let connection: Connection
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    connection = try database.connect()
    folder = try TemporaryFolder()
  }

  /// Builds the examples; returns the folder of the programs.
  private static func build() throws -> String {
    try ToolProcess(
      "/usr/bin/env", ["make", "--no-print-directory", "-C", Tools.package, "build-examples"],
      environment: ProcessInfo.processInfo.environment
    ).exit(within: .seconds(900)).requireSuccess()
    return Tools.package + "/.build/examples/release"
  }

  private func start(_ program: String, _ arguments: String...) throws -> ToolProcess {
    try ToolProcess(
      Self.programs.get() + "/" + program, [database.conninfo] + arguments,
      environment: Tools.environment)
  }

  @Test(arguments: [
    ["follow-changes", "cursor"], ["alert", "duty", "6", "http://127.0.0.1:9/"],
    ["mirror", "host=/nonexistent"], ["second-application", "6"], ["first-program", "all_hour"],
  ])
  func aProgramEndsWithASentenceIfTheDatabaseIsAway(_ words: [String]) throws {
    let path = try Self.programs.get() + "/" + words[0]
    let outcome = try ToolProcess(
      path, ["host=/nonexistent dbname=quake"] + words.dropFirst(), environment: Tools.environment
    ).exit().expect(1)
    #expect(outcome.errors.hasPrefix("\(words[0]): could not connect to"), "\(outcome.errors)")
    #expect(!outcome.errors.contains("Fatal error"))
  }

  @Test func followChangesContinuesWhereItWas() throws {
    let cursor = folder.path + "/cursor"
    let first = try start("follow-changes", cursor)
    #expect(try first.line() == "following the changes after 0")
    try connection.execute("set quake.author = 'ann'")
    try connection.execute(
      "insert into quake.quake (code, time, magnitude) values ('a1', now(), 5.5)")
    #expect(try first.line() == "insert a1 M5.5 ann")
    try eventually("the cursor is saved") { FileManager.default.fileExists(atPath: cursor) }
    first.signal(SIGKILL)
    _ = try first.exit()

    // Committed while no program follows.
    try connection.execute("delete from quake.quake")
    let second = try start("follow-changes", cursor)
    #expect(try second.line().hasPrefix("following the changes after 1."))
    #expect(try second.line() == "delete a1 ann")
  }

  @Test func alertTellsOfAnEarthquakeAndWhatBecomesOfIt() throws {
    let server = try ScriptedServer(body: [])
    var alert = try start("alert", "duty", "6", server.url)
    try eventually("the consumer has begun") {
      try database.column("select name from quake.consumer") == ["duty"]
    }
    try connection.execute(
      """
      insert into quake.quake (code, time, magnitude, place)
      values ('weak', now(), 5.9, 'the coast'), ('old', now() - interval '2 hours', 7, 'long ago')
      """)
    try connection.execute("update quake.quake set magnitude = 6.1 where code = 'weak'")
    try connection.execute("update quake.quake set felt = 5 where code = 'weak'")
    #expect(try alert.line().contains("the coast"))
    alert.signal(SIGKILL)
    _ = try alert.exit()
    try connection.execute("update quake.quake set magnitude = 6.6 where code = 'weak'")
    try connection.execute("delete from quake.quake where code = 'weak'")
    alert = try start("alert", "duty", "6", server.url)
    var lines: [String] = []
    // The first one may come again: it was killed before it had asked for the next.
    while lines.last?.hasPrefix("Retracted") != true { lines.append(try alert.line()) }
    #expect(lines.suffix(2).first?.contains("6.6") == true && lines.count <= 3, "\(lines)")
    var ids: [String?] = []
    for request in server.requests where ids.last != request.headers["idempotency-key"] {
      ids.append(request.headers["idempotency-key"])
    }
    #expect(ids.count == 3 && Set(ids).count == 3)
  }

  @Test func mirrorKeepsTheOtherTableEqual() throws {
    let target = try TestDatabase()
    try connection.execute(
      "insert into quake.quake (code, time, magnitude) select 'm' || i, now(), i from generate_series(1, 9) i"
    )
    func isEqual() throws -> Bool {
      let columns = "select code || coalesce(magnitude::text, '-') || time from"
      return try database.column("\(columns) quake.quake order by code")
        == target.column("\(columns) public.mirror order by code")
    }
    var program = try start("mirror", target.conninfo)
    try eventually("the table is filled") { (try? isEqual()) == true }
    try connection.execute("update quake.quake set magnitude = null where code = 'm3'")
    try connection.execute("delete from quake.quake where code = 'm4'")
    try eventually("the changes are applied") { (try? isEqual()) == true }
    program.signal(SIGKILL)
    _ = try program.exit()
    try connection.execute("truncate quake.quake, quake.quake_alias")
    try connection.execute(
      "insert into quake.quake (code, time, magnitude) values ('new', now(), 1)")
    program = try start("mirror", target.conninfo)
    try eventually("it continues") { (try? isEqual()) == true }
    #expect(try target.column("select code from public.mirror") == ["new"])
  }

  @Test func secondApplicationIgnoresItsOwnChanges() throws {
    let program = try start("second-application", "6")
    #expect(try program.line() == "following the changes of others after 0")
    try connection.execute("set quake.author = 'ann'")
    try connection.execute(
      "insert into quake.quake (code, time, magnitude) values ('s1', now(), 6.5)")
    #expect(try program.line() == "insert s1 ann")
    #expect(try program.line() == "validated s1")
    try connection.execute(
      "insert into quake.quake (code, time, magnitude) values ('s2', now(), 2)")
    // Its own update of s1 was committed before, and is not printed.
    #expect(try program.line() == "insert s2 ann")
    #expect(
      try database.column(
        "select code || ' ' || coalesce(author, '') from quake.changes_since('0')")
        == ["s1 ann", "s1 second-application", "s2 ann"])
  }

  @Test func firstProgramImportsAFeedAndFollowsAList() throws {
    try folder.write(
      "feed.csv",
      """
      time,latitude,longitude,depth,mag,magType,place,type,id,updated
      2026-11-22T09:00:00.000Z,1,2,3,5.5,mb,one,earthquake,us1,2026-11-22T09:10:00.000Z
      2026-11-22T10:00:00.000Z,1,2,3,4.4,mb,weak,earthquake,us2,2026-11-22T10:10:00.000Z

      """)
    let program = try start("first-program", folder.path + "/feed.csv")
    #expect(try program.line() == "imported 2 new events")
    // The change and the list come from two tasks.
    #expect(Set([try program.line(), try program.line()]) == ["insert us1", "1 strong: M5.5 one"])
    try connection.execute(
      "insert into quake.quake (code, time, magnitude, place) values ('l2', now(), 6, 'two')")
    #expect(
      Set([try program.line(), try program.line()])
        == ["insert l2", "2 strong: M6.0 two; M5.5 one"])
  }
}
