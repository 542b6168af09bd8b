import Basics
import Postgres
import TestSupport
import Testing

/// What one client leaves open is no other client's business.
@Suite(.serialized) struct OpenTransactionTests {
  private static let duration = Duration.seconds(Tools.isSoak ? 60 : 5)

  /// What the others needed.
  private struct Times {
    var imports: [Duration] = []
    var notifications: [Duration] = []
  }

  /// Another database without such a transaction is measured by turns, so that
  /// background load slows both.
  @Test func anIdleTransactionDelaysNoOtherSession() throws {
    let (database, control) = (try TestDatabase(), try TestDatabase())
    let folder = try TemporaryFolder()
    let files = try (0..<2).map { number in
      try folder.write("feed\(number).csv", Self.feed(magnitude: number + 2))
    }
    let idle = try database.connect(applicationName: "left open")
    try idle.run(
      "begin isolation level serializable",
      "insert into quake.quake (code, time) select 'open' || n, now() from generate_series(1, 1000) n",
      "update quake.quake set felt = 1 where code = 'open1'")
    var (beside, alone) = (Times(), Times())
    let begun = ContinuousClock.now
    var round = 0
    while ContinuousClock.now - begun < Self.duration || beside.imports.count < 5 {
      try measure(control, files[round % 2], into: &alone)
      try measure(database, files[round % 2], into: &beside)
      round += 1
    }
    // It was open all that time, and is delivered like any other.
    let feed = try FeedProcess(database.conninfo, [])
    try database.waitForIdle("quake-watch", after: "quake.change_transaction")
    try idle.run("commit")
    try feed.waitForLines(1001)
    try feed.stop()

    // What waited for the open transaction has waited for ever, and has not come here. How long the rest took is
    // judged where no other test runs; generously, because other programs may load the machine.
    let (imports, others) = (Self.median(alone.imports), Self.median(beside.imports))
    let (delay, otherDelay) = (Self.median(alone.notifications), Self.median(beside.notifications))
    if Tools.isSoak {
      #expect(
        others < imports * 3 + .milliseconds(200), "imports: \(imports) alone, \(others) beside")
      #expect(
        otherDelay < delay * 5 + .milliseconds(100), "delay: \(delay) alone, \(otherDelay) beside")
    }
    print(
      "open transaction: imports \(imports) alone, \(others) beside; delay \(delay), \(otherDelay)")
  }

  /// Measures an import, and some changes until the notification of each arrives.
  private func measure(_ database: TestDatabase, _ file: String, into times: inout Times) throws {
    let writer = try database.connect()
    let listener = try database.connect()
    try listener.run("listen quake_changes")
    var start = ContinuousClock.now
    try Tools.succeed("quake-ingest", ["import", file] + database.option)
    times.imports.append(ContinuousClock.now - start)
    try #require(try Self.wait(for: listener), "no notification of the import")
    for change in 1...5 {
      start = ContinuousClock.now
      try writer.execute(
        """
        insert into quake.quake (code, time) values ($1, now())
            on conflict (code) do update set felt = coalesce(quake.felt, 0) + 1
        """, [.text("rung\(change)")])
      try #require(try Self.wait(for: listener), "no notification")
      times.notifications.append(ContinuousClock.now - start)
    }
  }

  private static func wait(for listener: Connection) throws -> Bool {
    let deadline = Deadline(after: .seconds(120))
    while try listener.takeNotifications().isEmpty {
      guard listener.wait(until: deadline) == .ready else { return false }
    }
    return true
  }

  private static func median(_ durations: [Duration]) -> Duration {
    durations.sorted()[durations.count / 2]
  }

  /// Each hundredth event differs from one feed to the next.
  private static func feed(magnitude: Int) -> String {
    "time,latitude,longitude,depth,mag,magType,nst,gap,dmin,rms,net,id,updated,place,type\n"
      + (1...2000).map { number in
        "2023-11-14T22:13:20.000Z,35.7,-117.5,8.1,\(number % 100 == 0 ? magnitude : 2).\(number % 10),ml,,,,,us,us\(number),"
          + "2023-11-14T22:14:20.000Z,\"10 km N of Nowhere, CA\",earthquake\n"
      }.joined()
  }
}
