import TestSupport
import Testing

@Suite struct LateCommitTests {
  @Test func aWriterThatBeganFirstAndCommitsLastIsAlwaysDelivered() throws {
    let rounds = Tools.isSoak ? 20_000 : 400
    let database = try TestDatabase()
    let violations = try LateCommitCheck.run(rounds: rounds, in: database)
    #expect(violations.isEmpty, "\(violations)")
    #expect(
      try database.count("quake.change_transaction") == rounds * LateCommitCheck.transactions)
  }
}
