import Foundation
import TestSupport
import Testing

/// `quake-watch`: a part of the history only, and the conditions it shares with `quake-query`.
@Suite final class WatchRangeTests: ToolSuite {
  override init() throws {
    try super.init()
    for code in ["a", "b", "c", "d"] {
      try database.psql(
        "insert into quake.quake (code, time) values ('\(code)1', now()), ('\(code)2', now());")
    }
  }

  private func watch(_ arguments: String...) throws -> ToolProcess.Outcome {
    try watch(arguments)
  }

  private func watch(_ arguments: [String]) throws -> ToolProcess.Outcome {
    try database.run("quake-watch", ["--json"] + arguments)
  }

  private func codes(_ outcome: ToolProcess.Outcome) throws -> [String?] {
    try #require(outcome.status == 0, "\(outcome.errors)")
    return try outcome.lines.map { try JSONLine($0).string("code") }
  }

  @Test func upToEndsItAfterThatTransaction() throws {
    let tokens = try database.tokens()
    let file = folder.path + "/cursor"
    // Without --no-follow: it ends by itself, and saves where.
    let first = try codes(watch("--from-start", "--state", file, "--up-to", tokens[1]))
    #expect(first == ["a1", "a2", "b1", "b2"])
    #expect(try contents(of: file) == tokens[1] + "\n")
    #expect(try codes(watch("--state", file, "--up-to", tokens[1])) == [])
    #expect(try codes(watch("--state", file, "--up-to", tokens[2])) == ["c1", "c2"])
    #expect(try codes(watch("--after", tokens[2], "--up-to", tokens[1])) == [])
    // Also if no change of the last transaction passes the filter.
    #expect(try codes(watch("--from-start", "--up-to", tokens[2], "--code", "a2,d1")) == ["a2"])
  }

  @Test func anEndThatIsNotInThisHistoryIsRefused() throws {
    let file = folder.path + "/cursor"
    for (token, words) in [
      ("77.0123abcd", "token 77.0123abcd is in the future"),
      ("1.00000000", "history diverged at token 1.00000000"), ("x", "malformed token \"x\""),
    ] {
      let outcome = try watch(
        "--from-start", "--state", file, "--on-expired", "snapshot", "--up-to", token
      ).expectFailure(65)
      #expect(outcome.errors.hasPrefix("quake-watch: error: \(words)"), "\(outcome.errors)")
    }
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func itBeginsAfterATime() throws {
    try database.dateTransactions()
    #expect(
      try codes(watch("--no-follow", "--since", "2024-01-01T00:03:00Z")) == ["d1", "d2"])
    #expect(try codes(watch("--no-follow", "--since", "2024-01-01T02:01+02:00")).count == 6)
    #expect(try codes(watch("--no-follow", "--since", "2023-12-31")).count == 8)
  }

  /// A backlog is read in bulk, quake-query's answer is not: they must be the same, byte for byte.
  @Test func aBacklogIsPrintedAsTheHistoryHasIt() throws {
    try database.psql(
      """
      set quake.author = 'bulk "author"';
      insert into quake.quake (code, time, magnitude, place, type, longitude, latitude)
      select 'e' || n, '2024-01-01Z'::timestamptz + n * interval '1.5 s', n % 80 / 10.0,
             'place \\ "' || n || '" ' || repeat('é', n % 40), 'earthquake', n % 180, n % 90
        from generate_series(1, 3000) n;
      update quake.quake set magnitude = magnitude + 0.1, felt = 1 where length(code) = 4;
      do $$ begin
        set constraints all immediate;
        for i in 1..600 loop update quake.quake set sig = i where code = 'e' || i; end loop;
      end $$;
      delete from quake.quake where code like 'e2%';
      truncate quake.quake;
      insert into quake.quake (code, time) select 'again' || n, now() from generate_series(1, 20) n;
      """)
    for filter in [
      [], ["--min-magnitude", "7.5"], ["--op", "delete,truncate"], ["--changed", "sig"],
      ["--code", "e7,e299,again3"],
    ] {
      let watched = try watch(["--from-start", "--no-follow"] + filter)
      let asked = try database.run("quake-query", ["history", "--json"] + filter)
      #expect(watched.status == 0 && asked.status == 0, "\(watched.errors)\(asked.errors)")
      #expect(watched.output == asked.output, "\(filter)")
      #expect(filter != [] || watched.lines.count > 5000)
    }
    // And the same number of lines when it ends within.
    for limit in [499, 500, 501] {
      let lines = try watch(["--from-start", "--limit", "\(limit)"]).lines
      #expect(lines.count == limit)
    }
  }

  @Test func filtersSelectChanges() throws {
    let database = try TestDatabase()
    try database.psql(
      """
      begin; set local quake.author = 'ada';
      \(WatchTests.insert("small", magnitude: "1"))
      \(WatchTests.insert("great", magnitude: "7", longitude: 179, latitude: -10))
      commit;
      begin; set local quake.author = 'bob';
      \(WatchTests.insert("unknown", magnitude: "null", longitude: -179, latitude: -10))
      \(WatchTests.insert("blast", type: "quarry blast"))
      commit;
      update quake.quake set magnitude = 5 where code = 'small';
      update quake.quake set place = 'Elsewhere' where code = 'great';
      delete from quake.quake where code = 'blast';
      truncate quake.quake;
      """)
    let truncate = "truncate -"
    for (arguments, expected) in [
      (
        [],
        [
          "insert small", "insert great", "insert unknown", "insert blast", "update small",
          "update great", "delete blast", truncate,
        ]
      ),
      (["--min-magnitude", "4.5"], ["insert great", "update small", "update great", truncate]),
      (["--op", "delete", "--op", "update"], ["update small", "update great", "delete blast"]),
      (["--type", "quarry blast"], ["insert blast", "delete blast", truncate]),
      (["--bbox=-180,-20,-170,0"], ["insert unknown", truncate]),
      (
        ["--within", "250:-10,180"],
        ["insert great", "insert unknown", "update great", truncate]
      ),
      (["--author", "ada"], ["insert small", "insert great"]),
      (
        ["--not-author", "ada", "--not-author", "bob"],
        ["update small", "update great", "delete blast", truncate]
      ),
      (["--changed", "magnitude,place"], ["update small", "update great"]),
      (["--min-magnitude", "6", "--changed", "place"], ["update great"]),
    ] as [([String], [String])] {
      let lines = try database.succeed(
        "quake-watch", ["--from-start", "--no-follow", "--json"] + arguments
      ).lines.map(JSONLine.init)
      let changes = lines.map { "\($0.string("op") ?? "") \($0.string("code") ?? "-")" }
      #expect(changes == expected, "\(arguments)")
    }
  }
}
