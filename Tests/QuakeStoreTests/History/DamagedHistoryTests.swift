import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory

/// Every way to read a history ends with *diverged* where the history is damaged.
@Suite struct DamagedHistoryTests {
  @Test(arguments: HistoryDamage.allCases, ServerVersion.usual)
  func everyReaderFindsTheDamage(_ damage: HistoryDamage, _ version: ServerVersion) throws {
    for round in 0..<(!Tools.isSoak ? 2 : version == .main ? 100 : 20) {
      let history = try DamagedHistory(damage, round: round, on: version)
      let connection = try history.database.connect()
      let cursor = try #require(ChangeToken(history.cursor))
      for way in HistoryWay.allCases {
        let error = try way.refusal(after: cursor, over: connection)
        #expect(error?.kind == .token(.diverged), "\(way) in round \(round)")
        #expect(
          history.isNamed(in: error?.message ?? ""),
          "\(way) in round \(round): \(error?.message ?? "")")
      }
      try checkFunctions(damage, history, connection)
      var gaps = 0
      var walk = try HistoryVerification(over: connection)
      while try !walk.readBatch({ _ in gaps += 1 }) {}
      // Only a cursor shows that a whole history is another one.
      #expect(gaps == (damage.isWhole ? 0 : 1), "round \(round)")
    }
  }

  /// The functions that take a token or a number.
  private func checkFunctions(
    _ damage: HistoryDamage, _ history: DamagedHistory, _ connection: Connection
  ) throws {
    func state(_ statement: String) throws -> String? {
      thrown { () throws(PostgresError) in try connection.execute(SQL(trusted: statement)) }?
        .sqlState
    }
    if damage.isWhole {
      for function in ["token_number", "as_of", "history_covers"] {
        let argument =
          function == "history_covers"
          ? "quake.token_number('\(history.cursor)')" : "'\(history.cursor)'"
        #expect(
          try state("select * from quake.\(function)(\(argument))") == StoreState.divergedToken,
          "\(function)")
      }
    } else {
      let number = history.cursor.prefix { $0 != "." }
      #expect(
        try state("select quake.history_is_whole(\(number))") == StoreState.divergedToken)
    }
  }
}
