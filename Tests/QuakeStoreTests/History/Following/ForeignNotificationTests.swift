import Basics
import Postgres
import TestSupport
import Testing

@testable import QuakeHistory

/// Any role that may connect can notify on any channel.
@Suite struct ForeignNotificationTests {
  private let database: TestDatabase
  private let sender: Connection
  private let reader: Connection

  init() throws {
    database = try TestDatabase()
    sender = try database.connect()
    reader = try database.connect()
  }

  @Test func foreignNotificationsEndNoConnectionAndLoseNoAnswer() throws {
    try reader.run("listen quake_changes")
    reader.answerTimeout = ToolProcess.patience
    for round in 0..<8 {
      // 10 MB; empty payloads are the most messages for their bytes.
      try sender.run(
        """
        select pg_notify('quake_changes', \(round) || '.' || i || repeat('x', 5000 * (i % 2)))
          from generate_series(1, 4000) i
        """)
      let answer = try reader.executePrepared("select $1::text", [.text("\(round)")], limit: 1024)
      #expect(answer.text(0, 0) == "\(round)")
    }
    #expect(try reader.takeNotifications().count == 64)
    // The limit still holds for the answer itself.
    let error = try #require(throws: PostgresError.self) {
      try reader.executePrepared(
        "select repeat('x', 1000) from generate_series(1, 1000000)", limit: 100_000)
    }
    #expect(error.kind == .tooLarge)
  }

  private func notify() throws { try sender.run("notify quake_changes") }

  /// A wait, and a read that finds nothing.
  private func roundTrip(_ listener: inout ChangeListener) throws {
    try notify()
    let outcome = try listener.wait(until: Deadline(after: ToolProcess.patience), wake: -1)
    #expect(outcome == .ready)
    try listener.hasRead(foundChanges: false)
  }

  @Test func endlessForeignNotificationsMakeAListenerPoll() throws {
    var listener = try ChangeListener(connection: reader, session: .direct)
    for _ in 0..<63 { try roundTrip(&listener) }
    #expect(listener.pollingReason == nil && listener.isListening)
    try roundTrip(&listener)
    #expect(listener.pollingReason == .uselessNotifications && !listener.isListening)
    #expect(try listener.resume() == false)
    #expect(
      try sender.ask(
        "select count(*) from pg_stat_activity where query = 'unlisten *' and pid = \(reader.serverProcessID)"
      ) == "1")
    // It polls: no notification comes, and the wait times out.
    try notify()
    #expect(try listener.wait(until: Deadline(after: ToolProcess.patience), wake: -1) == .timedOut)
  }

  @Test func notificationsThatBringChangesDoNotMakeAListenerPoll() throws {
    var listener = try ChangeListener(connection: reader, session: .direct)
    for round in 0..<500 {
      try notify()
      #expect(try listener.wait(until: Deadline(after: ToolProcess.patience), wake: -1) == .ready)
      try listener.hasRead(foundChanges: round % 5 == 0)
    }
    #expect(listener.pollingReason == nil && listener.isListening)
  }
}
