import Postgres
import QuakeModel
import QuakeStore
import TestSupport
import Testing

@Suite(.serialized)
struct BackPressureTests {
  private let database: LiveDatabase

  init() throws {
    database = try LiveDatabase()
  }

  /// More than the buffers of a socket hold: 16 MB of notifications.
  private static func flood(_ connection: Connection) throws {
    for number in 0..<20 {
      try connection.run(
        """
        select pg_notify('quake_changes', repeat('x', 7900) || \(number) || '.' || i)
          from generate_series(1, 100) i
        """)
    }
  }

  /// Part of the queue that the flood takes, about: 2,000 of its 1,048,576 pages.
  private static let flooded = "pg_notification_queue_usage() > 0.001"

  @Test func aSlowConsumerHoldsNoTransactionAndPinsNoNotification() async throws {
    try await database.run { connection in
      // More than a page: the next one is prefetched, and must not stay on the way.
      let count = 2_000
      try connection.insertQuakes("a", count)
      var iterator = database.live.changes(after: .beginning).makeAsyncIterator()
      #expect(try await iterator.next()?.code == "a1")
      // Nothing more is asked for.
      #expect(try connection.eventually(LiveDatabase.idle(after: "unlisten")))
      try Self.flood(connection)
      #expect(try connection.eventually("not \(Self.flooded)"))
      // A session that listens and does not read fills the queue, so the check above would detect one.
      var pinning: Connection? = try database.test.connect()
      try pinning?.run("listen quake_changes")
      try Self.flood(connection)
      #expect(try connection.eventually(Self.flooded))
      pinning = nil
      #expect(try connection.eventually("not \(Self.flooded)"))
      // And it goes on where it was.
      try connection.insertQuakes("b")
      for number in 2...count {
        let code = try await iterator.next()?.code
        try #require(code == "a\(number)")
      }
      #expect(try await iterator.next()?.code == "b1")
      // Listening again: what comes now wakes it.
      async let next = iterator.next()?.code
      #expect(try connection.eventually(LiveDatabase.idle(after: "select t.token, v.id")))
      try connection.insertQuakes("c")
      #expect(try await next == "c1")
    }
  }

  @Test func aSlowConsumerReadsALargeBacklogInBoundedMemory() async throws {
    let conninfo = database.test.conninfo
    let test = database.test
    let backlog = Tools.isSoak ? 200_000 : 100_000
    let sizes = try await OwnThread.run(within: .seconds(900)) {
      let connection = try test.connect()
      // One transaction of half of it, and many small ones.
      try connection.insertQuakes("large", backlog / 2)
      for number in 0..<200 { try connection.insertQuakes("small\(number)x", backlog / 400) }
      return try LiveProbe.run(["changes", conninfo, "\(backlog)"]) {
        // Nothing has been asked of the server for a while: by its own clock, not by ours.
        let isQuiet = try connection.eventually(
          """
          exists (select from pg_stat_activity
                   where datname = current_database()
                     and application_name = '\(LiveProbe.applicationName)'
                     and query ~ '^(select t.token, v.id|unlisten)'
                     and query_start < clock_timestamp() - interval '300 ms')
          """)
        #expect(isQuiet)
      }
    }
    try #require(sizes.count == 3, "\(sizes)")
    // In kB: after the first change and a pause, and the most there was at the end.
    let (idle, first, peak) = (sizes[0], sizes[1], sizes[2])
    #expect(first - idle < 6 * 1024, "\(sizes)")
    #expect(peak - idle < 8 * 1024, "\(sizes)")
  }
}
