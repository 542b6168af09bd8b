import Foundation
import Postgres
import TestSupport
import Testing

/// The checks that compare with the tables report what they are there for.
@Suite struct ComparisonTests {
  private let database: TestDatabase
  private let connection: Connection
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    connection = try database.connect()
    folder = try TemporaryFolder()
    try connection.run(
      "insert into quake.quake (code, time, magnitude) select 'a' || n, '2024-01-01Z', n from generate_series(1, 3) n",
      "update quake.quake set magnitude = 7.25, place = 'Nowhere' where code = 'a1'",
      "delete from quake.quake where code = 'a2'",
      "begin", "set local quake.context = 'w/1'",
      "update quake.quake set felt = 3", "commit")
  }

  private func lines() throws -> [String] {
    let outcome = try Tools.run(
      "quake-watch", ["--json", "--from-start", "--no-follow"] + database.option)
    return outcome.lines.map { $0 + "\n" }
  }

  private func wrongChanges(_ lines: [String]) throws -> [String] {
    try HistoryComparison(connection, file: folder.write("feed", lines.joined())).wrongChanges()
  }

  @Test func everyChangedValueIsReported() throws {
    let lines = try lines()
    #expect(lines.count == 7)
    #expect(try wrongChanges(lines) == [])
    for (index, text, other) in [
      (3, "\"magnitude\":7.25", "\"magnitude\":7.5"), (3, "\"magnitude\":1,", "\"magnitude\":2,"),
      (3, "[\"magnitude\",\"place\"]", "[\"magnitude\"]"),
      (4, "\"magnitude\":2", "\"magnitude\":3"),
      (0, "\"insert\"", "\"update\""), (5, "\"felt\":3", "\"felt\":4"),
    ] {
      var changed = lines
      changed[index] = lines[index].replacing(text, with: other)
      try #require(changed != lines, "\(text) in \(lines[index])")
      #expect(try wrongChanges(changed).count == 1, "\(text)")
    }
    for index in lines.indices {
      var changed = lines
      changed.remove(at: index)
      #expect(try wrongChanges(changed).count == 1)
      changed = lines + [lines[index].replacing("{\"token\":\"", with: "{\"token\":\"9")]
      #expect(try wrongChanges(changed).count == 1)
    }
  }

  @Test func everyWrongStateIsReported() throws {
    let lines = try lines()
    func wrongStates(_ lines: [String], at token: Int64, of table: String) throws -> Int {
      try HistoryComparison(connection, file: folder.write("feed", lines.joined()))
        .wrongStates(of: table, at: token).count
    }
    let tokens = try database.tokens()
    for (index, token) in tokens.enumerated() {
      #expect(
        try wrongStates(lines, at: Int64(index + 1), of: "quake.as_of('\(token)')") == 0)
    }
    #expect(try wrongStates(lines, at: 4, of: "quake.quake") == 0)
    #expect(try wrongStates(lines, at: 3, of: "quake.quake") == 4)
    #expect(try wrongStates(Array(lines.dropLast()), at: 4, of: "quake.quake") == 2)
    #expect(
      try wrongStates(lines.filter { !$0.contains("\"delete\"") }, at: 4, of: "quake.quake") == 1)
  }

  @Test func aHistoryThatIsNotWhatTheWritersKnowIsReported() throws {
    func faults(_ note: (WriterLog) -> Void) throws -> Set<Violation.Kind> {
      let log = WriterLog()
      note(log)
      return try HistoryCheck.run(over: connection, log: log).kinds
    }
    #expect(try faults { $0.note("w/1", .committed, changes: 2) } == [])
    #expect(try faults { $0.note("w/1", .unknown, changes: nil) } == [])
    #expect(try faults { $0.note("w/1", .committed, changes: 3) } == [.wrongHistory])
    #expect(try faults { $0.note("w/2", .committed, changes: 1) } == [.wrongHistory])
    #expect(try faults { $0.note("w/1", .rolledBack, changes: nil) } == [.wrongHistory])
    #expect(try faults { $0.note("w/1", .commitFailed, changes: nil) } == [.wrongHistory])
    #expect(try faults { $0.note("w/2", .rolledBack, changes: nil) } == [])
    // A number that was drawn for nothing.
    try connection.run(
      "select nextval('quake.token')",
      "insert into quake.quake (code, time) values ('after', now())")
    #expect(try faults { _ in } == [.unexplainedGap])
    #expect(try faults { $0.note("w/2", .commitFailed, changes: nil) } == [])
    #expect(try faults { $0.noteCrash() } == [])
    // The same name twice, and versions of no transaction.
    try connection.run(
      "begin", "set local quake.context = 'w/1'",
      "insert into quake.quake (code, time) values ('again', now())", "commit")
    #expect(try faults { $0.noteTermination() } == [.wrongHistory])
  }
}
