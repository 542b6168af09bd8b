import Foundation
import TestSupport
import Testing

/// How much memory the tools need.
@Suite struct MemoryTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// In kB: `make test` optimises only some modules, and the code of the others is larger. `make soak` has the
  /// tools as they are shipped.
  private static let unoptimisedCode = Tools.isSoak ? 0 : 2048

  /// An idle watcher needs no more than 1.5 times what an idle psql does.
  @Test func anIdleWatcherIsAsSmallAsPsql() throws {
    let database = try TestDatabase()
    // Copies share no pages of code with the programs that other tests run.
    let watcher = folder.path + "/quake-watch"
    let client = folder.path + "/psql"
    try FileManager.default.copyItem(atPath: Tools.folder + "/quake-watch", toPath: watcher)
    try FileManager.default.copyItem(
      atPath: URL(fileURLWithPath: Tools.psql).resolvingSymlinksInPath().path, toPath: client)
    let watch = try ToolProcess(watcher, database.option, environment: Tools.environment)
    // psql waits for a command from a pipe that stays empty.
    let psql = try Tools.startShell(
      "mkfifo pipe; exec 3<>pipe; exec ./psql -X -d '\(database.conninfo)' <pipe",
      folder: folder.path)
    try database.waitForIdle("quake-watch", after: "select t.token, v.id")
    try eventually("psql is connected") {
      try database.sessions(of: "psql", where: "state = 'idle'") == 1
    }
    // Both are measured at the same moment, repeatedly: a page counts as a process's own only while
    // no other process maps it, and processes of other tests start and end. A watcher is idle after
    // a second.
    var sizes = (watch: 0, psql: 0)
    func limit(_ psql: Int) -> Int { psql * 3 / 2 + Self.unoptimisedCode }
    let deadline = ContinuousClock.now + ToolProcess.patience
    repeat {
      sizes = (
        watch: try ProcessMemory.unique(of: watch.pid), psql: try ProcessMemory.unique(of: psql.pid)
      )
      poll(nil, 0, 50)
    } while sizes.watch > limit(sizes.psql) && ContinuousClock.now < deadline
    #expect(sizes.psql > 500, "\(sizes.psql) kB is implausible")
    #expect(
      sizes.watch <= limit(sizes.psql), "quake-watch \(sizes.watch) kB, psql \(sizes.psql) kB")
    // The watcher still works.
    try database.insert("us1")
    #expect(try watch.line().contains("us1"))
  }

  @Test func aLargeTransactionNeedsLittleMemory() throws {
    // All changes together are larger than the memory that a tool may have: there are many, or their texts are long.
    let (expected, length) = Tools.isSoak ? (1_000_000, 100) : (10_000, 500)
    let database = try TestDatabase()
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude, place, title, url)
      select 'e' || n, now(), n % 7, repeat('p', \(length)), repeat('t', \(2 * length)),
             repeat('u', \(4 * length))
        from generate_series(1, \(expected)) n;
      """)
    let tool = try database.start("quake-query", ["history", "--json", "--descending"])
    // The rest does not fit into the pipe, so the tool is still running.
    _ = try tool.lines(expected * 9 / 10, within: .seconds(Tools.isSoak ? 600 : 180))
    let peak = try ProcessMemory.peak(of: tool.pid)
    let rest = try tool.exit().expect(0)
    #expect(rest.lines.count == expected - expected * 9 / 10)
    #expect(peak < 24 * 1024, "peak of \(peak) kB")
  }

  private static let readers = [
    ["quake-watch", "--snapshot", "--no-follow", "--json"],
    // A command that reads nothing. It writes more than a pipe takes, so that the test can measure meanwhile.
    ["quake-watch", "--snapshot", "--no-follow", "--exec-batch", "head -c 100000 /dev/zero"],
    ["quake-query", "list", "--json"], ["quake-query", "versions", "e1", "--json"],
  ]

  /// Others that print the same texts.
  private static let moreReaders = [
    ["quake-watch", "--snapshot", "--no-follow"],
    ["quake-watch", "--snapshot", "--no-follow", "--exec", "cat", "--jobs", "4"],
    ["quake-query", "diff", "0"],
  ]

  /// The longest texts need little memory, even of control characters, which take six bytes each in
  /// JSON.
  @Test(arguments: readers + (Tools.isSoak ? moreReaders : []))
  func theLongestTextsNeedLittleMemory(_ arguments: [String]) throws {
    let database = try Self.longestTexts.get()
    // There are enough events of this size to measure the memory meanwhile.
    let tool = try Tools.start(arguments[0], Array(arguments.dropFirst()) + database.option)
    var peak = 0
    while !tool.hasEnded {
      tool.discardOutput()
      peak = max(peak, ProcessMemory.peakSoFar(of: tool.pid) ?? 0)
      poll(nil, 0, 2)
    }
    #expect(try tool.exit().status == 0)
    #expect(peak > 1000)
    #expect(peak * 1024 < 24_000_000, "peak of \(peak) kB")
  }

  /// Read only.
  private static let longestTexts = Result<TestDatabase, any Error> {
    let database = try TestDatabase()
    let long = ["place", "title", "url", "detail", "ids", "sources", "types"]
    let short = ["net", "net_code", "source", "type", "status", "magnitude_type"]
    func values(_ character: Int) -> String {
      (long.map { _ in "repeat(chr(\(character)), 65536)" }
        + short.map { _ in "repeat(chr(\(character)), 60)" }).joined(separator: ", ")
    }
    let columns = (long + short).joined(separator: ", ")
    try database.psql(
      """
      insert into quake.quake (code, time, \(columns))
        select 'e' || n, now(), \(values(1)) from generate_series(1, 40) n;
      update quake.quake set (\(columns)) = row(\(values(2)));
      """)
    return database
  }

  /// Memory does not depend on the size of the feed. The README says how much it is.
  @Test(arguments: Tools.isSoak ? [[], ["--jobs", "2", "--commit-every", "20000"]] : [[]])
  func aLargeFeedNeedsLittleMemory(_ arguments: [String]) throws {
    let database = try TestDatabase()
    let events = Tools.isSoak ? 1_000_000 : 40_000
    let file = folder.path + "/large.geojson"
    try Tools.succeed(
      "quake-ingest", ["simulate", "--events", "\(events)", "--output", file])
    let asked = Flag()
    let answer = Flag()
    let server = try ScriptedServer { _, client in
      asked.raise()
      try? answer.wait()
      client.answer(404, [], "")
    }
    // While the tool waits for the second source, the test reads its peak memory.
    let tool = try database.start(
      "quake-ingest", ["import", "--json", file, server.url, "--timeout", "60s"] + arguments)
    let line = try JSONLine(tool.line(within: .seconds(Tools.isSoak ? 600 : 180)))
    #expect(line.integer("inserted") == events)
    try asked.wait()
    let peak = try ProcessMemory.peak(of: tool.pid)
    answer.raise()
    #expect(try tool.exit().status == 69)
    #expect(peak < 23 * 1024 + Self.unoptimisedCode, "peak of \(peak) kB")
  }

  @Test func aLargeAnswerNeedsLittleMemory() throws {
    let database = try TestDatabase()
    let file = folder.path + "/feed.geojson"
    try Tools.succeed("quake-ingest", ["simulate", "--events", "20000", "--output", file])
    try database.succeed("quake-ingest", ["import", file])
    let server = try ServerProcess(database)
    _ = try server.get("/fdsnws/event/1/query?format=geojson&limit=20")
    let before = try ProcessMemory.peak(of: server.process.pid)
    for format in ["geojson", "quakeml", "text"] {
      let answer = try server.get(
        "/fdsnws/event/1/query?format=\(format)&limit=20000&starttime=1900-01-01"
      ).expect(200)
      #expect(answer.body.count > 1_000_000, "\(format)")
    }
    #expect(try ProcessMemory.peak(of: server.process.pid) - before < 8_000, "\(before) kB before")
    try server.stop()
  }
}
