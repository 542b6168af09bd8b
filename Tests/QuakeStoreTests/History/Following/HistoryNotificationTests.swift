import Foundation
import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import Basics
@testable import QuakeHistory

@Suite struct HistoryNotificationTests {
  private let database: TestDatabase
  private let listener: Connection
  private let writer: Connection

  init() throws {
    database = try TestDatabase()
    listener = try database.connect()
    writer = try database.connect()
    try listener.run("listen quake_changes")
  }

  /// The payloads of all notifications before one that the test itself sends.
  private func payloads() throws -> [String] {
    try writer.run("select pg_notify('quake_changes', 'end')")
    var payloads: [String] = []
    let deadline = Deadline(after: ToolProcess.patience)
    while true {
      for notification in try listener.takeNotifications() {
        guard notification.payload != "end" else { return payloads }
        payloads.append(notification.payload)
      }
      try #require(listener.wait(until: deadline) == .ready)
    }
  }

  private func object(_ payload: String) throws -> NSDictionary {
    try #require(try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? NSDictionary)
  }

  @Test func aTransactionSendsOneNotificationWithTokenAuthorAndCounts() throws {
    try writer.transaction {
      try writer.run("set local quake.author = 'me'")
      try writer.insertQuakes("a", "b", "c")
      try writer.run("update quake.quake set felt = 1 where code <> 'a'", "delete from quake.quake")
      try writer.run("truncate quake.quake")
    }
    let payloads = try payloads()
    #expect(payloads.count == 1)
    #expect(
      try object(try #require(payloads.first)) == [
        "token": try writer.latestToken().description, "author": "me", "inserted": 3, "updated": 2,
        "deleted": 3, "truncated": 1,
      ] as NSDictionary)
  }

  @Test func aTransactionWithoutChangesSendsNoNotification() throws {
    try writer.insertQuakes("a")
    #expect(try payloads().count == 1)
    try writer.run("update quake.quake set code = code", "begin")
    try writer.insertQuakes("b")
    try writer.run("rollback")
    #expect(try payloads() == [])
  }

  @Test func notificationsComeInTheOrderOfTheTokens() throws {
    for number in 0..<10 { try writer.insertQuakes("a\(number)") }
    let tokens = try payloads().map { try object($0)["token"] as? String }
    #expect(
      tokens
        == (try database.tokens()))
  }

  @Test(arguments: [("x", 1_000_000), ("\u{1}", 10_000), ("🌋", 10_000), ("\"\\", 10_000)])
  func aNotificationFitsWhateverTheNameOfTheAuthor(part: String, count: Int) throws {
    let author = String(repeating: part, count: count)
    try writer.transaction {
      try writer.execute("select set_config('quake.author', $1, true)", [.text(author)])
      try writer.execute("select set_config('quake.context', $1, true)", [.text(author)])
      try writer.insertQuakes("a")
    }
    let payload = try #require(try payloads().first)
    #expect(payload.utf8.count < 8_000)
    #expect(try object(payload)["author"] as? String == String(author.prefix(200)))
    #expect(
      try writer.ask(
        "select author = left($1, 200) and context = left($1, 2000) from quake.change_transaction",
        [.text(author)])
        == "t")
  }
}
