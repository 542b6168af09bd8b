import Foundation
import Synchronization
import TestSupport
import Testing

/// Events that a polled feed no longer has.
@Suite final class WithdrawalTests: ToolSuite {
  /// A feed of events that happened hours ago, and their detail pages.
  private final class Catalogue: Sendable {
    private let events: Mutex<Set<Int>>
    private let pages = Mutex<[String]>([])

    init() {
      events = Mutex(Set(1...30))
    }

    var asked: [String] { pages.withLock { $0 } }

    func set(_ isThere: Bool, _ event: Int) {
      events.withLock { events in
        if isThere { events.insert(event) } else { events.remove(event) }
      }
    }

    func serve() throws -> ScriptedServer {
      try ScriptedServer { [self] request, client in
        if request.target.hasPrefix("/detail/") {
          pages.withLock { $0.append(request.target) }
          // Event 7 is deleted, event 8 is only missing from the feed, and the others have no page.
          let status =
            switch request.target {
            case "/detail/us7.geojson": 409
            case "/detail/us8.geojson": 200
            default: 404
            }
          client.answer(status, [], "{}")
          return
        }
        let now = Int(Date().timeIntervalSince1970 * 1000)
        // The pages of the oldest events cannot be requested.
        let features = events.withLock { $0.sorted() }.map { number in
          Feeds.feature("us\(number)", time: now - 3_600_000 * 2 - number * 60_000)
            .replacingOccurrences(
              of: "https://example.org/us\(number).json",
              with: number > 24 ? "ftp://example.org/" : "")
        }
        let fixed = features.map { $0.replacingOccurrences(of: "\"detail\":\"\",", with: "") }
        client.answer(200, [], Feeds.collection(fixed, generated: now))
      }
    }
  }

  private func run(_ server: ScriptedServer, _ arguments: String...) throws -> ToolProcess {
    try database.start(
      "quake-ingest",
      ["run", "--feed", "http://127.0.0.1:\(server.port)/summary/all_day.geojson@100ms"] + arguments
    )
  }

  private func isWithdrawn(_ code: String) throws -> Bool {
    try database.value("select withdrawn_at is not null from quake.quake where code = '\(code)'")
      == "t"
  }

  @Test func aMissingEventIsWithdrawnAndRestored() throws {
    let catalogue = Catalogue()
    let server = try catalogue.serve()
    let worker = try run(server)
    try worker.waitForError("30 inserted")
    catalogue.set(false, 7)
    try worker.waitForError("1 withdrawn")
    #expect(try isWithdrawn("us7"))
    catalogue.set(true, 7)
    try worker.waitForError("1 restored")
    #expect(try !isWithdrawn("us7"))
    try worker.end()
    #expect(catalogue.asked.isEmpty)
  }

  @Test func withConfirmationOnlyDeletedEventsAreWithdrawn() throws {
    let catalogue = Catalogue()
    let server = try catalogue.serve()
    let worker = try run(server, "--confirm-withdrawals")
    try worker.waitForError("30 inserted")
    // The pages of these are requested first, and do not exist.
    for event in 1...6 { catalogue.set(false, event) }
    try eventually("events without a page were asked for") { catalogue.asked.count >= 5 }
    catalogue.set(false, 7)
    catalogue.set(false, 8)
    try worker.waitForError("us7 was deleted from its catalogue")
    #expect(try isWithdrawn("us7"))
    #expect(
      try database.value("select status from quake.quake where code = 'us7'") == "deleted")
    // Its page is requested again, and the event is not withdrawn.
    try eventually("event 8 was asked for twice") {
      catalogue.asked.filter { $0 == "/detail/us8.geojson" }.count >= 2
    }
    #expect(try !isWithdrawn("us8"))
    // A page that does not exist is not requested again for a while.
    #expect(
      (1...6).allSatisfy { n in catalogue.asked.count { $0 == "/detail/us\(n).geojson" } == 1 })
    catalogue.set(true, 7)
    try worker.waitForError("1 restored")
    #expect(try !isWithdrawn("us7"))
    #expect(
      try database.value("select status from quake.quake where code = 'us7'") == "reviewed")
    try worker.end()
  }

  @Test func pagesThatCannotBeRequestedHoldUpNoOther() throws {
    let catalogue = Catalogue()
    let server = try catalogue.serve()
    let worker = try run(server, "--confirm-withdrawals")
    try worker.waitForError("30 inserted")
    for event in 25...30 { catalogue.set(false, event) }
    try eventually("the events are missing") {
      try database.value("select count(*) from quake.absence where snapshots >= 3") == "6"
    }
    catalogue.set(false, 7)
    try worker.waitForError("us7 was deleted from its catalogue")
    #expect(
      try database.value("select count(*) from quake.quake where withdrawn_at is not null") == "1")
    try worker.end()
  }
}
