import Basics
import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory

@Suite struct HistoryFollowerTests {
  private let database: TestDatabase
  private let writer: Connection
  private let connection: Connection
  private let follower: HistoryFollower

  init() throws {
    database = try TestDatabase()
    writer = try database.connect()
    connection = try database.connect()
    follower = HistoryFollower { () throws(PostgresError) in
      preconditionFailure("there is no pooler that would need a second connection")
    }
    try follower.connect(over: connection)
    try follower.begin(after: HistoryCursor(token: .beginning))
    try follower.listen()
  }

  /// Reads one page; the codes of its changes.
  private func read() throws -> [String?] {
    var codes: [String?] = []
    _ = try follower.readPage { codes.append($0.code) }
    return codes
  }

  /// Waits until there may be changes. On a busy machine a notification may take longer than the five seconds after
  /// which one wait times out.
  private func wait() throws -> Connection.WaitOutcome {
    let deadline = Deadline(after: ToolProcess.patience)
    while true {
      let outcome = try follower.wait(until: deadline, wake: -1)
      guard outcome == .timedOut, !deadline.hasPassed else { return outcome }
    }
  }

  /// The last statement of the follower's session.
  private func lastStatement() throws -> String? {
    try writer.ask(
      "select query from pg_stat_activity where pid = \(connection.serverProcessID)")
  }

  @Test func aFollowerPollsWhileNotificationsBringLateChanges() throws {
    #expect(try read() == [])
    for code in ["a", "b"] {
      try writer.insertQuakes(code)
      try writer.transaction {
        try writer.run(
          "set local session_replication_role = replica",
          "update quake.change_transaction set at = clock_timestamp() - interval '1 s'")
      }
      #expect(try wait() == .ready)
      #expect(try read() == [code])
    }
    try writer.insertQuakes("c")
    #expect(try wait() == .ready)
    #expect(try lastStatement() == "unlisten *")
    #expect(try read() == ["c"])
    // Without new changes it listens again after a few polls.
    var polls = 0
    while try lastStatement() != "listen quake_changes" {
      polls += 1
      try #require(polls < 20)
      #expect(try wait() == .ready)
      if try lastStatement() != "listen quake_changes" { #expect(try read() == []) }
    }
    try writer.insertQuakes("d")
    #expect(try wait() == .ready)
    #expect(try read() == ["d"])
  }
}
