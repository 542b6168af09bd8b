import Foundation
import TestSupport
import Testing

/// `quake-watch --url` after the database of the server was restored to an earlier state.
@Suite struct WatchServerLossTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder
  private let port: ReservedPort

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
    port = try ReservedPort()
  }

  private func serve(_ database: TestDatabase) throws -> ServerProcess {
    try ServerProcess(database, ["--heartbeat", "200ms"], port: port.number)
  }

  private func watch(_ arguments: [String]) throws -> ToolProcess {
    try Tools.start(
      "quake-watch",
      ["--url", "http://127.0.0.1:\(port.number)", "--json", "--from-start"] + arguments,
      environment: ["XDG_STATE_HOME": folder.path], folder: folder.path)
  }

  /// Both databases have a. The first alone has b and c, the second x, y and z.
  private func restored() throws -> (copy: TestDatabase, lost: [String]) {
    try database.insert("a")
    let copy = try TestDatabase(copying: database)
    try database.insert("b", "c")
    try copy.insert("x", "y", "z")
    let lost = try database.column(
      "select token || '.' || nonce from quake.change_transaction where token > 1 order by token")
    return (copy, lost)
  }

  private func judge(_ lines: [String], lost: [String]) throws {
    let lines = try lines.map(JSONLine.init)
    #expect(lines.map { $0.string("op") } == ["reset"] + Array(repeating: "snapshot", count: 4))
    #expect(lines[0].string("reason") == "diverged" && lines[0].string("after") == lost[1])
    #expect(
      lines[0].text.contains("\"lost\":[\"\(lost[0])\",\"\(lost[1])\"]"), "\(lines[0].text)")
  }

  @Test func aRunningWatcherNamesWhatIsLost() throws {
    let (copy, lost) = try restored()
    let first = try serve(database)
    let watcher = try watch(["--state", "cursor", "--on-expired", "snapshot"])
    #expect(try watcher.lines(3).count == 3)
    try first.stop()
    let second = try serve(copy)
    try judge(try watcher.lines(5), lost: lost)
    #expect(watcher.errorText.contains("Transactions \(lost[0]), \(lost[1]), which this watcher"))
    try watcher.end()
    try second.stop()
  }

  @Test func aNamedWatcherNamesWhatIsLostAfterARestart() throws {
    let (copy, lost) = try restored()
    let first = try serve(database)
    #expect(try watch(["--name", "alerts", "--no-follow"]).exit().lines.count == 3)
    #expect(try watch(["--name", "alerts", "--no-follow"]).exit().lines.isEmpty)
    #expect(try watch(["--name", "other", "--no-follow", "--limit", "1"]).exit().lines.count == 1)
    try first.stop()
    let second = try serve(copy)
    try watch(["--name", "alerts", "--no-follow"]).exit().expectFailure(
      65, "Transactions \(lost[0]), \(lost[1]), which this watcher")
    let reset = try watch(["--name", "alerts", "--no-follow", "--on-expired", "snapshot"]).exit()
      .expect(0)
    try judge(reset.lines, lost: lost)
    #expect(try watch(["--name", "alerts", "--no-follow"]).exit().lines.isEmpty)
    // The other one has delivered only what both have.
    #expect(try watch(["--name", "other", "--no-follow"]).exit().lines.count == 3)
    try second.stop()
  }

  @Test func withoutAFolderANameIsAnError() throws {
    try Tools.run(
      "quake-watch", ["--url", "http://127.0.0.1:\(port.number)", "--name", "alerts"],
      environment: ["HOME": ""]
    ).expect(
      1, "cannot keep the cursor of watcher \"alerts\": none of STATE",
      "--state names a file for it.")
  }
}
