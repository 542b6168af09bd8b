import Foundation
import TestSupport
import Testing

/// The disk with the embedded server is full: the tools call it that, whatever PostgreSQL could not do.
@Suite(.enabled(if: SmallDisk.mayMount, "only root may mount a small file system"))
struct FullDiskTests {
  private let files: TemporaryFolder

  init() throws {
    files = try TemporaryFolder()
  }

  private func run(
    _ tool: String, _ arguments: [String], on disk: SmallDisk
  ) throws -> ToolProcess.Outcome {
    try Tools.run(tool, arguments, environment: ["QUAKE_SERVER_HOME": disk.path + "/server"])
  }

  private func expectFull(_ outcome: ToolProcess.Outcome, _ disk: SmallDisk) {
    #expect(outcome.status != 0)
    let message = "error: the disk with \"\(disk.path)/server\" is full"
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
    #expect(outcome.errors.contains("MiB are free"), "\(outcome.errors)")
    #expect(outcome.errors.contains("hint: Free some space on it"), "\(outcome.errors)")
  }

  @Test func aServerThatRunsOutOfSpaceSaysSo() throws {
    let disk = try SmallDisk(size: "200m")
    func server(_ arguments: String...) throws -> ToolProcess.Outcome {
      try run("quake-admin", ["server"] + arguments, on: disk)
    }
    defer { _ = try? server("stop") }
    let one = try files.write("one.geojson", Feeds.collection(count: 1))
    let many = try files.write(
      "many.geojson",
      Feeds.collection((1...3000).map { Feeds.feature("many\($0)") }))
    try run("quake-ingest", ["import", one], on: disk).requireSuccess()
    try disk.fill()
    expectFull(try run("quake-ingest", ["import", many], on: disk), disk)

    // The log cannot grow either, so the server goes down.
    _ = try server(
      "psql", "-X", "-q", "-c",
      "select pg_logical_emit_message(true, 'x', repeat('x', 1000000)) from generate_series(1, 40)")
    // In a recovery it would not stop, or not soon.
    let processes = try Tools.shell("head -1 '\(disk.path)/server/data/postmaster.pid'").output
    if let postmaster = pid_t(processes.trimmingCharacters(in: .whitespacesAndNewlines)) {
      kill(postmaster, SIGQUIT)
    }
    _ = try server("stop")
    try disk.fill()
    let start = try server("start")
    expectFull(start, disk)
    #expect(start.status == 69)

    try disk.clear()
    let list = try run("quake-query", ["list", "--codes"], on: disk).expect(0)
    #expect(list.lines.count == 1, "\(list.errors)")
  }
}
