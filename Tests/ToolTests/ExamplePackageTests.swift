import Foundation
import Postgres
import TestSupport
import Testing

/// A program in a package of its own imports `QuakeStore` and follows changes. Its build takes most of a
/// minute, so that only the soak runs it.
@Suite(.enabled(if: Tools.isSoak)) struct ExamplePackageTests {
  private static let package = Tools.package + "/Examples/follow-changes"
  private static let scratch = Tools.package + "/.build/examples/follow-changes"

  /// Builds the example; returns the program's path.
  private func build() throws -> String {
    let arguments = [
      "swift", "build", "--package-path", Self.package, "--scratch-path", Self.scratch,
    ]
    let environment = ProcessInfo.processInfo.environment
    let build = try ToolProcess("/usr/bin/env", arguments, environment: environment)
      .exit(within: .seconds(900))
    try #require(build.status == 0, "\(build.output)\(build.errors)")
    let path = try ToolProcess(
      "/usr/bin/env", arguments + ["--show-bin-path"], environment: environment
    ).exit()
    return try #require(path.lines.last) + "/follow-changes"
  }

  @Test func aProgramInAnotherPackageFollowsChangesAndContinues() throws {
    let program = try build()
    let database = try TestDatabase()
    let connection = try database.connect()
    let folder = try TemporaryFolder()
    let arguments = [database.conninfo, folder.path + "/cursor"]

    let first = try ToolProcess(program, arguments, environment: Tools.environment)
    #expect(try first.line() == "following the changes after 0")
    try connection.execute("set quake.author = 'ann'")
    try connection.execute(
      "insert into quake.quake (code, time, magnitude) values ('a1', now(), 5.5)")
    #expect(try first.line() == "insert a1 M5.5 ann")
    try eventually("the cursor is saved") {
      FileManager.default.fileExists(atPath: folder.path + "/cursor")
    }
    first.signal(SIGKILL)
    _ = try first.exit()

    // Committed while no program follows.
    try connection.execute("delete from quake.quake")
    let second = try ToolProcess(program, arguments, environment: Tools.environment)
    #expect(try second.line().hasPrefix("following the changes after 1."))
    #expect(try second.line() == "delete a1 ann")
  }
}
