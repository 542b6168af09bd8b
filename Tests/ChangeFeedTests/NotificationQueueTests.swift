import Glibc
import Postgres
import TestSupport
import Testing

/// The server keeps notifications until its slowest listener has had them.
@Suite(.serialized) struct NotificationQueueTests {
  private static let transactions = Tools.isSoak ? 100_000 : 6_000

  /// Many small transactions.
  private static func write(_ connection: Connection, _ count: Int) throws {
    try connection.run(
      """
      do $$ begin
        for n in 1..\(count) loop
          insert into quake.quake (code, time) values ('q', now())
            on conflict (code) do update set felt = coalesce(quake.felt, 0) + 1;
          commit;
        end loop;
      end $$
      """)
  }

  /// A consumer that does not read does not hold the queue back: its watcher stops listening.
  @Test func aReaderThatStallsDoesNotFillTheQueue() throws {
    let server = try OwnServer()
    let connection = try server.connect()
    try connection.run("insert into quake.quake (code, time) values ('first', now())")
    let feed = try FeedProcess(server.conninfo, ["--from-start"], pipeSize: 4096, isRead: false)
    // Enough for the pipe, and for the next write to wait.
    try Self.write(connection, 20)
    #expect(
      try connection.eventually(
        """
        exists (select from pg_stat_activity where application_name = 'quake-watch'
                 and state = 'idle' and query like 'unlisten%')
        """), "it goes on listening")
    try Self.write(connection, Self.transactions)
    let usage = Double(try connection.ask("select pg_notification_queue_usage()") ?? "") ?? 1
    // A listener that had not moved would hold four times as much: see below.
    #expect(usage < 0.000_02, "\(usage)")
    // Nothing is lost by it.
    feed.setRead(true)
    let history = try KnownHistory(over: connection)
    try feed.waitForToken(try #require(history.changes.last).token)
    try feed.stop()
    let verdict = ChangeOracle(history).judge(feed.recorder.lines, of: "stalled")
    #expect(verdict.violations.isEmpty, "\(verdict.violations)")
  }

  /// A stopped process cannot stop listening. What holds then is the size of the queue, and that it
  /// catches up: 6,000 transactions are less than a thousandth of the 8 GB.
  @Test func aStoppedWatcherHoldsTheQueueOnlyWhileItIsStopped() throws {
    let server = try OwnServer()
    let connection = try server.connect()
    let feed = try FeedProcess(server.conninfo, ["--from-start"])
    try connection.run("insert into quake.quake (code, time) values ('first', now())")
    try feed.waitForLines(1)
    try feed.process.stop()
    try Self.write(connection, Self.transactions)
    let held = Double(try connection.ask("select pg_notification_queue_usage()") ?? "") ?? 1
    #expect(held > 0.000_08 && held < 0.01, "\(held)")
    feed.process.signal(SIGCONT)
    let history = try KnownHistory(over: connection)
    try feed.waitForToken(try #require(history.changes.last).token)
    #expect(try connection.eventually("pg_notification_queue_usage() < 0.0001"))
    try feed.stop()
    let verdict = ChangeOracle(history).judge(feed.recorder.lines, of: "stopped")
    #expect(verdict.violations.isEmpty, "\(verdict.violations)")
    print("notification queue: \(held) of it held by a stopped watcher after \(Self.transactions)")
  }
}
