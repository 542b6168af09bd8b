import Basics
import Postgres
import Synchronization
import TestSupport
import Testing

/// Notifications are no answers, however many any session sends.
@Suite struct NotificationFloodTests {
  /// Whether the sessions that send notifications are to end.
  private final class Stop: Sendable {
    let isRequested = Atomic(false)
  }

  @Test(arguments: ServerVersion.usual)
  func notificationsOfOthersNeverEndAConnectionNorItsStatements(_ version: ServerVersion) throws {
    let database = try TestDatabase.empty(on: version.server)
    let times = Tools.isSoak ? 50 : 10
    let connection = try database.connect()
    try connection.run("listen changes")
    let stop = Stop()
    let (conninfo, others) = (database.conninfo, 3)
    let floods = (0..<others).map { _ in
      BackgroundThread {
        let flood = try Connection(ConnectionSettings(conninfo, applicationName: "flood"))
        while !stop.isRequested.load(ordering: .relaxed) {
          try flood.run(
            // Not more than a listener can read: a full queue is another matter.
            """
            select pg_notify('changes', n || repeat('x', 4000))
              from generate_series(1, 300) n, pg_notification_queue_usage() u where u < 0.0005
            """)
        }
      }
    }
    defer { stop.isRequested.store(true, ordering: .relaxed) }
    let deadline = Deadline(after: ToolProcess.patience)
    var flooded = 0
    // Each answer is small, and what arrives before it is far more than its limit.
    let statement: SQL = "select repeat('y', 2000) from generate_series(1, 8)"
    while flooded < times, !deadline.hasPassed {
      #expect(try connection.executePrepared(statement, limit: 64 << 10).rowCount == 8)
      let ticket = try connection.prefetch(statement, limit: 64 << 10)
      try connection.receivePrefetched()
      let answer = try connection.takePrefetched(ticket)
      #expect(answer?.rowCount == 8)
      if try connection.takeNotifications().count >= 64 { flooded += 1 }
    }
    #expect(flooded == times)
    stop.isRequested.store(true, ordering: .relaxed)
    for flood in floods { try flood.join() }
    #expect(connection.isIdle)
  }
}
