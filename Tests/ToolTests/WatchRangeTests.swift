import Foundation
import TestSupport
import Testing

/// `quake-watch`: a part of the history only, and the conditions it shares with `quake-query`.
@Suite struct WatchRangeTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
    for code in ["a", "b", "c", "d"] {
      try database.psql(
        """
        begin;
        set local quake.context = 'about \(code)';
        insert into quake.quake (code, time) values ('\(code)1', now()), ('\(code)2', now());
        commit;
        """, environment: ["PGAPPNAME": "writer \(code)"])
    }
  }

  private func watch(_ arguments: String...) throws -> ToolProcess.Outcome {
    try Tools.run("quake-watch", database.option + ["--json"] + arguments)
  }

  private func codes(_ outcome: ToolProcess.Outcome) throws -> [String?] {
    try #require(outcome.status == 0, "\(outcome.errors)")
    return try outcome.lines.map { try JSONLine($0).string("code") }
  }

  private func tokens() throws -> [String] {
    try database.column(
      "select token || '.' || nonce from quake.change_transaction order by token")
  }

  @Test func itEndsWithTheTransactionToldTo() throws {
    let tokens = try tokens()
    // Without --no-follow: it ends by itself.
    #expect(
      try codes(watch("--from-start", "--up-to", tokens[1])) == ["a1", "a2", "b1", "b2"])
    #expect(
      try codes(watch("--after", tokens[0], "--up-to", tokens[3])) == [
        "b1", "b2", "c1", "c2", "d1", "d2",
      ])
    #expect(try codes(watch("--after", tokens[2], "--up-to", tokens[1])) == [])
    // Whatever of it passes the filter.
    #expect(try codes(watch("--from-start", "--up-to", tokens[2], "--code", "a2,d1")) == ["a2"])
  }

  @Test func theEndIsKeptAsAPlace() throws {
    let tokens = try tokens()
    let file = folder.path + "/cursor"
    let first = try codes(watch("--from-start", "--state", file, "--up-to", tokens[1]))
    #expect(first == ["a1", "a2", "b1", "b2"])
    #expect(try String(contentsOfFile: file, encoding: .utf8) == tokens[1] + "\n")
    #expect(try codes(watch("--state", file, "--up-to", tokens[1])) == [])
    #expect(try codes(watch("--state", file, "--up-to", tokens[2])) == ["c1", "c2"])
  }

  @Test func anEndThatIsNotOfThisHistoryIsRefused() throws {
    let file = folder.path + "/cursor"
    for (token, words) in [
      ("77.0123abcd", "token 77.0123abcd is in the future"),
      ("1.00000000", "history diverged at token 1.00000000"), ("x", "malformed token \"x\""),
    ] {
      for option in ["stop", "snapshot"] {
        let outcome = try watch(
          "--from-start", "--state", file, "--on-expired", option, "--up-to", token)
        #expect(outcome.status == 65)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("quake-watch: error: \(words)"), "\(outcome.errors)")
      }
    }
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func itBeginsAfterATime() throws {
    try database.psql(
      """
      update quake.change_transaction
         set at = '2024-01-01T00:00:00Z'::timestamptz + token * interval '1 minute';
      """)
    #expect(
      try codes(watch("--no-follow", "--since", "2024-01-01T00:03:00Z")) == ["d1", "d2"])
    #expect(try codes(watch("--no-follow", "--since", "2024-01-01T02:01+02:00")).count == 6)
    #expect(try codes(watch("--no-follow", "--since", "2023-12-31")).count == 8)
    for arguments in [["--since", "yesterday"], ["--since", "2024-01-01", "--from-start"]] {
      #expect(try Tools.run("quake-watch", database.option + arguments).status == 64)
    }
  }

  @Test func conditionsSelect() throws {
    func codes(_ arguments: String...) throws -> [String?] {
      try self.codes(
        Tools.run(
          "quake-watch", database.option + ["--json", "--from-start", "--no-follow"] + arguments))
    }
    #expect(try codes("--code", "a1,c2", "--code", "d1") == ["a1", "c2", "d1"])
    #expect(try codes("--context", "about b") == ["b1", "b2"])
    #expect(try codes("--application", "writer c", "--application", "writer d").count == 4)
    #expect(try codes("--context", "about b", "--application", "writer c") == [])
    // A snapshot has the conditions on events.
    let snapshot = try Tools.run(
      "quake-watch",
      database.option + ["--json", "--snapshot", "--no-follow", "--code", "b2"])
    #expect(try self.codes(snapshot) == ["b2"])
  }
}
