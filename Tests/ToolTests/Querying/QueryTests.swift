import Foundation
import TestSupport
import Testing

/// `quake-query`. The writer is the real `psql`.
@Suite final class QueryTests: ToolSuite {
  override init() throws {
    try super.init()
    try database.psql(
      """
      begin;
      set local quake.author = 'ada';
      set local quake.context = 'first load';
      insert into quake.quake (code, time, magnitude, place, type, longitude, latitude, ids) values
        ('us1', '2024-05-06 07:08:09.5+00', 5.5, 'Nowhere', 'earthquake', 10, 20, ',us1,ci9,'),
        ('us2', '2024-05-07 00:00:00+00', 1.25, null, 'quarry blast', 30, 40, ',us2,');
      insert into quake.quake_alias values ('ci9', 'us1');
      commit;
      begin;
      set local quake.author = 'bob';
      update quake.quake set magnitude = 5.75, felt = 3 where code = 'us1';
      commit;
      delete from quake.quake where code = 'us2';
      insert into quake.quake (code, time, magnitude) values ('us3', '2024-05-08 00:00:00+00', 7);
      """)
  }

  private func query(_ arguments: String...) throws -> ToolProcess.Outcome {
    try database.run("quake-query", arguments)
  }

  private func lines(
    _ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [String] {
    let outcome = try database.run("quake-query", arguments).requireSuccess(
      sourceLocation: sourceLocation)
    #expect(outcome.errors.isEmpty, sourceLocation: sourceLocation)
    return outcome.lines
  }

  /// A change as one line of text.
  private func changes(_ arguments: String...) throws -> [String] {
    try lines(["history", "--json"] + arguments).map { line in
      let json = try JSONLine(line)
      return "\(json.string("op") ?? "") \(json.string("code") ?? "-")"
    }
  }

  // MARK: history

  @Test func theHistoryIsWhatTheWatcherPrints() throws {
    let watched = try database.run("quake-watch", ["--json", "--from-start", "--no-follow"])
    #expect(try lines(["history", "--json"]) == watched.lines)
    #expect(
      try lines(["history", "--json", "--descending"]) == Array(watched.lines.reversed()))
    let text = try database.run("quake-watch", ["--from-start", "--no-follow"])
    #expect(try lines(["history"]) == text.lines)
    #expect(watched.lines.count == 5)
  }

  /// The reader stops after the first line, so that the signal arrives while the first page of several is written.
  @Test(arguments: ["history --json", "history --json --transactions"])
  func anInterruptedAnswerIsAnError(command: String) throws {
    for number in 1...3 {
      try database.psql(
        """
        insert into quake.quake (code, time)
        select 'b\(number)-' || i, now() from generate_series(1, 1000) i
        """)
    }
    let outcome = try Tools.shell(
      """
      { quake-query \(command) -d '\(database.conninfo)' 2>errors & echo $! >pid; wait $! || echo $? >status; } |
        { read -r line; kill -TERM $(cat pid); wc -l >lines; }
      cat status errors
      """, folder: folder.path)
    #expect(
      outcome.output == """
        1
        quake-query: error: the history was interrupted before its end
          detail: The output is not complete. A file that --output names is as it was before.

        """)
  }

  @Test func rangesSelectChanges() throws {
    let tokens = try database.tokens()
    let all = ["insert us1", "insert us2", "update us1", "delete us2", "insert us3"]
    #expect(try changes() == all)
    #expect(try changes("--after", tokens[0]) == Array(all[2...]))
    #expect(try changes("--after", "1", "--up-to", "3") == Array(all[2...3]))
    #expect(try changes("--transaction", tokens[2]) == ["delete us2"])
    #expect(try changes("--limit", "2", "--descending") == ["insert us3", "delete us2"])
    try database.dateTransactions()
    #expect(try changes("--after", "2024-01-01T00:02:00Z") == Array(all[3...]))
    #expect(
      try changes("--since", "2024-01-01T00:01Z", "--until", "2024-01-01T00:02:30Z")
        == ["update us1"])
    // A clock that was set back hides no later transaction.
    try database.psql("update quake.change_transaction set at = '2024-01-02' where token = 2;")
    #expect(try changes("--until", "2024-01-03T00:00:00Z") == all)
    #expect(try changes("--since", "2024-01-03T00:00:00Z").isEmpty)
  }

  @Test func itCountsChangesAndListsCodes() throws {
    #expect(try lines(["history", "--count"]) == ["5"])
    #expect(try lines(["history", "--count", "--json", "--op", "insert"]) == ["{\"count\":3}"])
    #expect(try lines(["history", "--codes", "--descending", "--limit", "1"]) == ["us3"])
    #expect(
      try lines(["history", "--codes", "--json", "--op", "delete"]) == ["{\"code\":\"us2\"}"])
  }

  @Test func transactionsComeWithTheirChanges() throws {
    let found = try lines(["history", "--transactions", "--json", "--code", "us1"])
      .map(JSONLine.init)
    try #require(found.count == 2)
    let first = found[0]
    #expect(
      first.keys == [
        "token", "author", "context", "application", "user", "pid", "client", "at", "import",
        "inserted", "updated", "deleted", "truncated", "changes",
      ])
    #expect(first.string("token") == (try database.tokens()[0]))
    #expect(first.string("author") == "ada" && first.string("context") == "first load")
    // The counts are those of the whole transaction, of which the filter selects a part.
    #expect(first.integer("inserted") == 2 && first.integer("updated") == 0)
    let changes = try #require(first.objects("changes"))
    try #require(changes.count == 1)
    #expect(changes[0].keys == ["position", "op", "code", "changed", "old", "new"])
    #expect(changes[0].integer("position") == 0)
    #expect(changes[0]["new"]?.double("magnitude") == 5.5)
    #expect(found[1].objects("changes")?.first?.strings("changed") == ["magnitude", "felt"])

    let text = try lines(["history", "--transactions", "--descending", "--limit", "3"])
    #expect(text.count == 6)
    #expect(text[2].hasSuffix(": 1 deleted") && text[3].hasPrefix("  deleted 2024-05-07"))
    #expect(text[4].hasSuffix("by bob (role quake): 1 changed"))
  }

  // MARK: list, show

  @Test func theListMayBeAsOfAnEarlierToken() throws {
    #expect(
      try lines(["list"]) == [
        "2024-05-08T00:00:00Z  M  7.0  place unknown (us3)",
        "2024-05-06T07:08:09Z  M  5.8  Nowhere (us1)",
      ])
    func codes(_ arguments: String...) throws -> [String?] {
      try lines(["list", "--json"] + arguments).map { try JSONLine($0).string("code") }
    }
    let tokens = try database.tokens()
    #expect(try codes("--as-of", tokens[0]) == ["us2", "us1"])
    #expect(try codes("--as-of", "3") == ["us1"])
    try database.run("quake-query", ["list", "--as-of", "0"]).expect(
      0, "no transaction was committed by then", output: "")
    #expect(try codes("--as-of", tokens[0], "--min-magnitude", "2") == ["us1"])
    try database.dateTransactions()
    #expect(try codes("--as-of", "2024-01-01T00:01:30Z") == ["us2", "us1"])
    let event = try JSONLine(try #require(try lines(["list", "--json", "--as-of", "1"]).last))
    #expect(event.double("magnitude") == 5.5 && event.isNull("felt"))
  }

  // MARK: diff

  @Test func theDifferenceIsNet() throws {
    let tokens = try database.tokens()
    func differences(_ arguments: String...) throws -> [JSONLine] {
      try lines(["diff", "--json"] + arguments).map(JSONLine.init)
    }
    let all = try differences(tokens[0])
    #expect(all.map { $0.string("op") } == ["update", "delete", "insert"])
    #expect(all.map { $0.string("code") } == ["us1", "us2", "us3"])
    #expect(all.allSatisfy { $0.keys == ["op", "code", "changed", "old", "new"] })
    #expect(all[0].strings("changed") == ["magnitude", "felt"])
    #expect(all[0]["old"]?.double("magnitude") == 5.5)
    #expect(all[0]["new"]?.double("magnitude") == 5.75)
    #expect(all[1].isNull("new") && all[2].isNull("old"))
    #expect(try differences("0").map { $0.string("op") } == ["insert", "insert"])
    #expect(try differences("3", tokens[1]).map { $0.string("op") } == ["insert"])
    #expect(try differences(tokens[3]).isEmpty)
    #expect(
      try lines(["diff", "1", "2"]) == [
        "changed 2024-05-06T07:08:09Z  M  5.8  Nowhere (us1): magnitude 5.5 → 5.75, felt none → 3"
      ])
  }

  @Test func linesForPeopleFitAndTellWhatAPersonSees() throws {
    let before = try database.value("select quake.latest_token()")
    let place = "12 km SSW of Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, Wales"
    try database.psql(
      "update quake.quake set updated = now(), as_of = now() where code = 'us1'")
    try database.psql(
      """
      set quake.author = 'a person with a rather long name';
      insert into quake.quake (code, time, magnitude, depth, place)
        values ('us4', now(), 4.7, 35, '\(place)');
      update quake.quake
         set magnitude = 0.1 + 4.6, status = 'reviewed', felt = 12, depth = 10, alert = 'green'
       where code = 'us4';
      """)
    let plain = try database.run("quake-query", ["diff", before])
    #expect(plain.lines.count == 1 && plain.lines[0].contains("(us4)"), "\(plain.output)")
    #expect(plain.errors.contains("left out: 1 event with differences only in columns"))
    let all = try lines(["diff", before, "--verbose"])
    #expect(all.count == 2 && all[0].hasSuffix("(us1): updated, as_of"), "\(all)")
    let json = try lines(["diff", before, "--json"])
    #expect(json.count == 2)
    let versions = try lines(["versions", "us4"])
    #expect(versions.count == 2)
    #expect(versions[1].contains("us4: ") && !versions[1].contains("magnitude"), "\(versions)")
    for line in plain.lines + all + versions + (try lines(["history", "--transactions"])) {
      #expect(line.count <= 100, "\(line)")
    }
  }

  // MARK: versions

  @Test func versionsHaveTheChangedColumns() throws {
    let tokens = try database.tokens()
    for id in ["us1", "ci9"] {
      let versions = try lines(["versions", id, "--json"]).map(JSONLine.init)
      #expect(versions.map { $0.string("token") } == [tokens[0], tokens[1]])
      #expect(versions.map { $0.string("op") } == ["insert", "update"])
      #expect(versions[1].strings("changed") == ["magnitude", "felt"])
      #expect(versions[1]["old"]?.double("magnitude") == 5.5)
      #expect(versions[1]["transaction"]?.string("author") == "bob")
      #expect(versions[0].isNull("old") && versions[0].integer("position") == 0)
    }
    // An event that was deleted.
    let gone = try lines(["versions", "us2", "--json"]).map(JSONLine.init)
    #expect(gone.map { $0.string("op") } == ["insert", "delete"])
    #expect(gone[0].integer("position") == 1)
    #expect(gone[1].isNull("new") && gone[1]["old"]?.double("magnitude") == 1.25)
    let text = try lines(["versions", "us1"])
    #expect(text.count == 2 && text[0].hasPrefix(tokens[0] + "  "))
    #expect(
      text[1].hasSuffix("Z  changed M  5.8  us1: magnitude 5.5 → 5.75, felt none → 3  by bob"))
  }

  // MARK: Errors

  @Test func wrongTokensAreBadDataEachWithItsMessage() throws {
    for (token, words) in [
      ("hello", "malformed token \"hello\""), ("77.0123abcd", "token 77.0123abcd is in the future"),
      ("1.00000000", "history diverged at token 1.00000000"), ("99", "there is no transaction 99"),
    ] {
      for arguments in [["history", "--count", "--up-to", token], ["diff", "0", token]] {
        let outcome = try database.run("quake-query", arguments).expectFailure(65, with: arguments)
        #expect(
          outcome.errors.hasPrefix("quake-query: error: \(words)"), "\(outcome.errors)")
        #expect(outcome.errors.contains("\n  hint: "))
      }
    }
  }

  @Test func expiredTokensAreBadData() throws {
    let tokens = try database.tokens()
    #expect(
      try database.run("quake-admin", ["history", "purge", "--yes", "--before", tokens[2]])
        .status == 0)
    #expect(try changes() == ["insert us3"], "it begins at the retention floor")
    for arguments in [
      ["history", "--after", tokens[1]], ["history", "--since", "2024-01-01"],
      ["list", "--as-of", tokens[0]], ["list", "--as-of", "2024-01-01"], ["diff", tokens[1]],
      ["history", "--transaction", tokens[2]],
    ] {
      let outcome = try database.run("quake-query", arguments).expect(65, with: arguments)
      let words =
        arguments.contains("2024-01-01")
        ? "the history at 2024-01-01T00:00:00.000Z was purged" : "has expired"
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
      #expect(outcome.errors.contains(tokens[2]), "it names the oldest valid token")
      #expect(outcome.errors.contains("ask for that time or a later one"), "\(outcome.errors)")
    }
  }

  @Test func unknownIdsAreAFailure() throws {
    for arguments in [["show", "us2"], ["show", "nothing"], ["versions", "nothing"]] {
      let outcome = try database.run("quake-query", arguments).expectFailure(1)
      #expect(outcome.errors.hasPrefix("quake-query: error: there is no event \"\(arguments[1])\""))
      // Somebody who looks for an event that was deleted learns where it is.
      #expect(
        outcome.errors.contains("\"quake-query versions us2\" prints its changes")
          == (arguments[1] == "us2"), "\(outcome.errors)")
    }
  }
}
