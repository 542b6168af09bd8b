import Foundation
import TestSupport
import Testing

private let soakTime: Duration? =
  if let minutes = ProcessInfo.processInfo.environment["QUAKE_SOAK_MINUTES"].flatMap(Int.init) {
    .seconds(60 * minutes)
  } else {
    Tools.isSoak ? .seconds(3600) : nil
  }

/// A worker over a longer time: with QUAKE_SOAK=1 an hour, or the minutes that QUAKE_SOAK_MINUTES gives.
@Suite(.enabled(if: soakTime != nil, "make soak has it"))
struct WorkerSoakTests {
  /// What a worker uses at one moment.
  private struct Usage {
    let memory: Int
    let descriptors: [String]
    let threads: Int

    init(_ pid: pid_t) throws {
      memory = try ProcessMemory.allocated(of: pid)
      let folder = "/proc/\(pid)/fd"
      descriptors = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
        // A descriptor that has been closed meanwhile does not count.
        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
      }
      threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task").count
    }
  }

  @Test func itsMemoryDescriptorsAndConnectionsStayAsTheyAre() throws {
    let database = try TestDatabase()
    let service = try Tools.start(
      "quake-ingest",
      [
        "simulate", "--port", "0", "--events", "1000", "--rate", "6000", "--max-age", "0",
        "--fault", "truncated:7", "--fault", "503:11", "--fault", "stale:13", "--fault", "html:17",
      ])
    _ = try service.line()
    let url = try #require(try service.line().split(separator: " ").last.map(String.init))
    let feeds = ["all_month", "all_day", "all_hour"].flatMap {
      ["--feed", url.replacingOccurrences(of: "all_month", with: $0) + "@100ms"]
    }
    let worker = try database.start(
      "quake-ingest",
      ["run", "--quiet", "--keep-history", "5s", "--keep-quarantined", "5s"] + feeds)
    func polls() throws -> Int { try database.count("quake.import") }
    // After 60 polls it has allocated the memory that it needs.
    try eventually("60 snapshots have been imported") { try polls() >= 60 }
    let first = try Usage(worker.pid)
    let end = ContinuousClock.now + (try #require(soakTime))
    var later: [Usage] = []
    var connections: [Int] = []
    var seen = try polls()
    // On a busy machine each measurement takes seconds.
    while ContinuousClock.now < end || later.count < 3 {
      let wanted = seen + 20
      try eventually("the worker continues polling") {
        worker.takeIn()
        service.takeIn()
        return try polls() >= wanted
      }
      seen = try polls()
      later.append(try Usage(worker.pid))
      connections.append(try database.sessions(of: "quake-ingest"))
    }
    let memory = later.map(\.memory)
    let half = memory.count / 2
    let (early, late) = (memory[..<half].max() ?? 0, memory[half...].max() ?? 0)
    #expect(late <= max(early, first.memory) + 1024, "\(first.memory), then \(memory) kB")
    #expect(late < 24 * 1024)
    for usage in later {
      #expect(
        usage.descriptors.count <= first.descriptors.count + 4,
        "\(first.descriptors), then \(usage.descriptors)")
      #expect(usage.threads <= first.threads + 1)
    }
    #expect(connections.allSatisfy { $0 == 1 }, "\(connections)")
    // It has quarantined bad snapshots, and left no transaction pending.
    #expect(
      try database.value("select bool_or(quarantined_at is not null) from quake.import") == "t")
    #expect(try database.count("quake.change_pending") == 0)
    print(
      "worker soak: \(seen) imports; memory \(first.memory) kB, then up to \(memory.max() ?? 0) kB;",
      "\(first.descriptors.count) descriptors, then up to",
      "\(later.map(\.descriptors.count).max() ?? 0)")
    for process in [worker, service] { try process.end() }
  }
}
