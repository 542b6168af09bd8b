import Foundation
import Glibc
import Postgres
import Synchronization
import TestSupport
import Testing

private let environment = ProcessInfo.processInfo.environment

/// A simulated centre of the world: two workers for 100 feeds, three regions, and 20,000 streams of their servers, or as
/// many as `QUAKE_SOAK_STREAMS` says. `QUAKE_SOAK_WORLD` is the time in seconds.
@Suite(.serialized, .enabled(if: Tools.isSoak, "make soak has it"))
struct WorldSoakTests {
  private static let seconds = environment["QUAKE_SOAK_WORLD"].flatMap { Int($0) } ?? 300
  private static let feeds = 100
  /// How many of the streams a region has, as far as the limit on open files allows.
  private static let share: Int = {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let wanted = environment["QUAKE_SOAK_STREAMS"].flatMap { Int($0) } ?? 20_000
    return min(wanted / 3, Int(clamping: limit.rlim_max) - 500)
  }()

  /// The clients of a region's server, and when the last of them had each change.
  private final class Clients: Sendable {
    private let seen = Mutex<[(id: String, at: Double)]>([])
    private let isStopped = Atomic<Bool>(false)
    private let thread = Mutex<BackgroundThread?>(nil)

    var changes: [(id: String, at: Double)] { seen.withLock { $0 } }

    /// - Parameter cursor: After which they begin.
    init(of url: String, after cursor: String) {
      let port = url.split(separator: ":").last.map(String.init) ?? ""
      thread.withLock {
        $0 = BackgroundThread { [self] in
          let probe = try ToolProcess(
            Self.probe, ["streams", port, "\(share)", cursor], environment: Tools.environment)
          while !isStopped.load(ordering: .relaxed) {
            guard let line = try? probe.line(within: .milliseconds(200)) else {
              guard probe.hasEnded else { continue }
              throw ToolProcess.Failure(
                description: "the clients ended: \(try probe.exit().output)")
            }
            let id = line.split(separator: " ").last.map(String.init) ?? ""
            seen.withLock { $0.append((id, Date().timeIntervalSince1970)) }
          }
        }
      }
    }

    /// Ends them, and throws what went wrong.
    func stop() throws {
      isStopped.store(true, ordering: .relaxed)
      try thread.withLock { $0 }?.join()
    }

    private static let probe =
      URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .path + "/test-probe"
  }

  private let centre: OwnServer
  private let regions: [WatchedRegion]
  private let folder: TemporaryFolder
  private let configuration: String

  init() throws {
    let centre = try OwnServer(settings: ["wal_level": "logical"])
    self.centre = centre
    regions = try ["eu", "asia", "africa"].map {
      try WatchedRegion($0, of: centre.conninfo, binDirectory: environment["QUAKE_PG_BIN"])
    }
    folder = try TemporaryFolder()
    var sections = ["every = 10s"]
    for feed in 0..<Self.feeds {
      let path = try Self.write(0, of: feed, to: folder)
      sections.append("[feed centre-\(feed)]\nurl = \(path)\nsource = centre-\(feed)")
    }
    configuration = try folder.write("q.conf", sections.joined(separator: "\n\n") + "\n")
  }

  @Test func nothingIsLostOrRepeatedInAnyRegion() throws {
    var workers = [try worker(), try worker()]
    let connection = try centre.connect()
    try eventually("each feed has its event", within: .seconds(300)) {
      for worker in workers { worker.takeIn() }
      return try connection.ask("select count(*) from quake.quake") == "\(Self.feeds)"
    }
    let start = try #require(try connection.ask("select quake.latest_token()"))
    for region in regions { try region.watch() }
    try waitForWatchers(start)
    let clients = regions.map { Clients(of: $0.url, after: start) }

    var random = Seed.generator("world")
    for second in 1...Self.seconds {
      // A feed in two seconds has news; something fails each 15 seconds.
      if second.isMultiple(of: 2) {
        _ = try Self.write(second, of: second / 2 * 37 % Self.feeds, to: folder)
      }
      let next = ContinuousClock.now + .seconds(1)
      while ContinuousClock.now < next {
        for worker in workers { worker.takeIn() }
        for region in regions { try region.keep() }
        poll(nil, 0, 50)
      }
      guard second.isMultiple(of: 15) else { continue }
      let region = regions[Int.random(in: 0..<3, using: &random)]
      switch second / 15 % 4 {
      case 0:
        let number = second / 60 % 2
        workers[number].signal(SIGKILL)
        _ = try workers[number].exit()
        workers[number] = try worker()
      case 1: try region.restartServing()
      case 2: try region.server.connect().run("alter subscription \(region.slot) disable")
      default:
        for region in regions {
          try region.server.connect().run("alter subscription \(region.slot) enable")
        }
      }
    }
    for region in regions {
      try region.server.connect().run("alter subscription \(region.slot) enable")
    }
    for worker in workers {
      worker.signal(SIGTERM)
      #expect(try worker.exit().status == 0)
    }
    try compare(clients, after: start)
  }

  private func compare(_ clients: [Clients], after start: String) throws {
    let connection = try centre.connect()
    let rows = try connection.table(
      """
      select token || '.' || nonce || ' ' || extract(epoch from at) from quake.change_transaction
       where token > split_part('\(start)', '.', 1)::bigint order by token
      """
    ).map { $0.split(separator: " ").map(String.init) }
    try eventually("all clients have \(rows.count) changes", within: .seconds(600)) {
      for region in regions { try region.keep() }
      return clients.allSatisfy { $0.changes.count >= rows.count }
    }
    print("world: \(rows.count) changes of \(Self.feeds) feeds in \(Self.seconds) s")
    let oracle = ChangeOracle(try KnownHistory(over: connection))
    var violations = Violations(feed: "world")
    for (region, clients) in zip(regions, clients) {
      let seen = clients.changes
      #expect(seen.map(\.id) == rows.map { $0[0] }, "\(region.name)")
      let times = zip(seen, rows).map { $0.at - (Double($1[1]) ?? 0) }.sorted()
      #expect(!times.isEmpty)
      let (median, late) = (times[times.count / 2], times[times.count * 99 / 100])
      print(
        "world: \(region.name): the last of \(Self.share) streams had a change after",
        "\(Int(median * 1000)) ms (median), \(Int(late * 1000)) ms (p99)")
      try clients.stop()
    }
    try waitForWatchers(rows.last?[0] ?? start)
    for watcher in regions.flatMap(\.watchers) { violations.add(watcher.judge(oracle)) }
    for region in regions { try region.stopWatching() }
    #expect(violations.isEmpty, "\(violations)")
  }

  private func waitForWatchers(_ token: String) throws {
    let number = token.split(separator: ".").first.flatMap { Int64($0) } ?? 0
    for watcher in regions.flatMap(\.watchers) {
      try watcher.waitForToken(number, within: .seconds(300))
    }
  }

  private func worker() throws -> ToolProcess {
    try Tools.start(
      "quake-ingest", ["run", "--quiet", "--config", configuration, "-d", centre.conninfo])
  }

  /// Writes a feed as a whole: FDSN text with one event.
  ///
  /// - Returns: Its path.
  private static func write(_ revision: Int, of feed: Int, to folder: TemporaryFolder) throws
    -> String
  {
    let path = "\(folder.path)/feed-\(feed)"
    let magnitude = Double(revision % 80 + 10) / 10
    let new = try folder.write(
      "new",
      """
      #EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|Magnitude|MagAuthor|EventLocationName
      world\(feed)|2026-11-01T00:00:00|41.9|12.5|8.1|me|c|c|1|ML|\(magnitude)|me|Here

      """)
    guard rename(new, path) == 0 else {
      throw ToolProcess.Failure(description: "could not write \(path)")
    }
    return path
  }
}
