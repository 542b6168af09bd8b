import Postgres
import QuakeHistory
import QuakeModel
import QuakeStore
import TestSupport
import Testing

/// A program with the library is told where the history is damaged.
@Suite struct DamagedHistoryLibraryTests {
  private static let rounds = Tools.isSoak ? 100 : 1

  @Test(.timeLimit(.minutes(10)), arguments: HistoryDamage.allCases)
  func everyCallFindsTheDamage(_ damage: HistoryDamage) async throws {
    for round in 0..<Self.rounds {
      let history = try DamagedHistory(damage, round: round)
      var settings = ConnectionSettings(history.database.conninfo, applicationName: "live")
      settings.connectTimeout = ToolProcess.patience
      let live = QuakeDatabase(settings)
      let cursor = try #require(ChangeToken(history.cursor))
      var query = HistoryQuery()
      query.after = .token(cursor)
      let calls: [(name: String, run: @Sendable () async throws -> Void)] = [
        ("changes", { [query = live.changes(after: cursor)] in for try await _ in query {} }),
        ("history", { [query] in for try await _ in live.history(query).changes {} }),
        (
          "transactions",
          { [query] in for try await _ in live.history(query).transactions {} }
        ),
        ("differences", { _ = try await live.differences(from: .token(cursor)) }),
      ]
      for call in calls {
        let error = await #expect(throws: StoreError.self, "\(call.name) in round \(round)") {
          try await call.run()
        }
        #expect(error?.kind == .token(.diverged), "\(call.name) in round \(round)")
        #expect(history.isNamed(in: error?.message ?? ""), "\(call.name)")
      }
    }
  }
}
