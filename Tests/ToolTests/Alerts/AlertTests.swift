import Foundation
import TestSupport
import Testing

/// The options that make an alert one that should wake somebody: from a database, from a server, in queries and
/// in SQL.
@Suite final class AlertTests: ExecSuite {
  /// A history with each kind of change. The codes say what happens.
  private func load() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude, depth, latitude, longitude, type, url) values
        ('large', now(), 6.3, 10, 0, 0, 'earthquake', 'https://example.org/large'),
        ('old', now() - interval '3 hours', 6.5, 10, 0, 0, 'earthquake', null),
        ('grows', now(), 5.9, 10, 0, 179.95, 'earthquake', 'javascript:alert(1)'),
        ('late', now() - interval '70 min', 5.9, 10, 0, 0, 'earthquake', null),
        ('unknown', now(), null, null, null, null, 'earthquake', '-o /tmp/x'),
        ('blast', now(), 6.2, 0, 0, 0, 'quarry blast', null);
      update quake.quake set magnitude = 6.1 where code = 'grows';
      update quake.quake set magnitude = 6.2 where code = 'late';
      update quake.quake set magnitude = 6.0, depth = 5 where code = 'unknown';
      update quake.quake set magnitude = 6.2 where code = 'grows';
      update quake.quake set magnitude = 6.5, updated = now() where code = 'grows';
      update quake.quake set depth = 25 where code = 'large';
      update quake.quake set latitude = 0, longitude = -179.95 where code = 'grows';
      update quake.quake set withdrawn_at = now() where code = 'large';
      update quake.quake set withdrawn_at = null where code = 'large';
      update quake.quake set superseded_by = 'large' where code = 'grows';
      delete from quake.quake where code = 'old';
      delete from quake.quake where code = 'large';
      -- Which event is shown for an earthquake is no news of it, and no list shows an event that is superseded.
      begin;
      set local quake.context = 'association';
      update quake.quake set superseded_by = 'blast' where code = 'late';
      commit;
      update quake.quake set magnitude = 6.9, depth = 99 where code = 'late';
      begin;
      set local quake.context = 'association';
      update quake.quake set superseded_by = null where code = 'late';
      commit;
      """)
  }

  /// What each condition lets pass, as operation, code and number of the transaction.
  private static let expectations: [(options: [String], changes: [String])] = [
    (
      ["--newer-than", "1h", "--op", "insert"],
      ["insert large 1", "insert grows 1", "insert unknown 1", "insert blast 1"]
    ),
    (
      ["--min-magnitude", "6", "--enters"],
      [
        "insert large 1", "insert old 1", "insert blast 1", "update grows 2", "update late 3",
        "update unknown 4", "update large 10",
      ]
    ),
    (
      ["--min-magnitude", "6", "--enters", "--newer-than", "1h", "--type", "earthquake"],
      ["insert large 1", "update grows 2", "update unknown 4", "update large 10"]
    ),
    (
      ["--min-magnitude", "6", "--leaves", "--newer-than", "1h"],
      ["update large 9", "update grows 11", "delete large 13"]
    ),
    (["--magnitude-change", "0.3"], ["update late 3", "update unknown 4", "update grows 6"]),
    (["--depth-change", "15"], ["update unknown 4", "update large 7"]),
    (["--place-change", "11"], ["update grows 8"]),
    (
      ["--min-magnitude", "6", "--enters", "--magnitude-change", "0.3"],
      [
        "insert large 1", "insert old 1", "insert blast 1", "update grows 2", "update late 3",
        "update unknown 4", "update grows 6", "update large 10",
      ]
    ),
  ]

  private static func name(_ line: JSONLine) -> String {
    let token = line.string("token") ?? ""
    return "\(line.string("op") ?? "") \(line.string("code") ?? "-") \(token.prefix { $0 != "." })"
  }

  @Test func everyWayToTheHistoryLetsTheSameChangesPass() throws {
    try load()
    let server = try ServerProcess(database)
    for (options, changes) in Self.expectations {
      for command in [
        ["quake-watch", "--from-start", "--no-follow"] + database.option,
        ["quake-watch", "--from-start", "--no-follow", "--url", server.url],
        ["quake-query", "history"] + database.option,
      ] {
        let outcome = try Tools.succeed(
          command[0], Array(command.dropFirst()) + ["--json"] + options)
        #expect(
          try outcome.lines.map { Self.name(try JSONLine($0)) } == changes, "\(command) \(options)")
      }
      let count = try database.run("quake-query", ["history", "--count"] + options)
      #expect(count.lines == ["\(changes.count)"], "\(options)")
    }
    try server.stop()
  }

  @Test func theFunctionInSQLLetsTheSamePass() throws {
    try load()
    let arguments = [
      "--newer-than": "newer_than => interval '1h'", "--min-magnitude": "min_magnitude => 6",
      "--enters": "enters => true", "--leaves": "leaves => true",
      "--type": "types => '{earthquake}'", "--depth-change": "depth_change => 15",
    ]
    for (options, changes) in Self.expectations {
      let words = options.filter { $0.hasPrefix("--") }
      guard !words.contains("--op") else { continue }
      let values = words.map { word -> String in
        let value = options[(options.firstIndex(of: word) ?? 0) + 1..<options.count].first ?? ""
        return arguments[word]
          ?? "\(word.dropFirst(2).replacing("-", with: "_")) => \(value)"
      }
      #expect(
        try database.column(
          """
          select op || ' ' || code || ' ' || quake.token_number(token)
            from quake.alerts_since('0', \(values.joined(separator: ", ")))
          """) == changes, "\(values)")
    }
    #expect(
      try database.column(
        "select code from quake.alerts_since('0', within_km => 1, latitude => 0, longitude => 179.95) where op = 'insert'"
      )
        == ["grows"])
    // The bucket fills by the times of the transactions, so that the answer is always the same.
    try database.psql(
      "update quake.change_transaction set at = '2026-01-01Z'::timestamptz + token * interval '10 min';"
    )
    let limited =
      "select op || ' ' || code || ' ' || held_back from quake.alerts_since('0', limit_rate => 2)"
    #expect(
      try database.column(limited) == [
        "insert large 0", "insert old 0", "update unknown 6", "update large 2", "update large 2",
        "delete large 2", "update late 2",
      ])
    // Null is no condition, and nonsense an error.
    #expect(
      try database.value("select count(*) from quake.alerts_since('0', enters => null)")
        == database.value("select count(*) from quake.changes_since('0')"))
    for condition in ["limit_rate => 2, limit_period => null", "min_magnitude => 'NaN'"] {
      #expect(throws: (any Error).self) {
        try database.value("select count(*) from quake.alerts_since('0', \(condition))")
      }
    }
  }

  // MARK: Variables

  @Test func aCommandGetsWhatAnAlertNeeds() throws {
    try load()
    let lines = try run([
      "--exec",
      "echo \"$QUAKE_CODE|${QUAKE_MAGNITUDE-none}|${QUAKE_OLD_MAGNITUDE-none}|${QUAKE_URL-none}|$QUAKE_TEXT\"",
    ]).lines
    func fields(_ index: Int) -> [String] {
      lines[index].split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    }
    #expect(lines.count == 21)
    #expect(fields(0)[..<4] == ["large", "6.3", "none", "https://example.org/large"])
    #expect(fields(2)[3] == "none" && fields(4)[3] == "none", "only http and https are addresses")
    #expect(fields(6)[..<4] == ["grows", "6.1", "5.9", "none"])
    #expect(fields(17)[..<4] == ["large", "6.3", "6.3", "https://example.org/large"], "deleted")
    // A variable that the caller has is not passed on.
    let outcome = try watch(
      ["--from-start", "--limit", "1", "--exec-batch", "env | grep -c ^QUAKE_[UTOH] || true"],
      environment: [
        "QUAKE_URL": "x", "QUAKE_TEXT": "x", "QUAKE_HELD_BACK": "9", "QUAKE_OLD_MAGNITUDE": "1",
      ]
    ).exit()
    #expect(outcome.lines == ["1"], "only QUAKE_TOKEN")
  }

  // MARK: The rate

  @Test func aRateHoldsBackAndSaysSo() throws {
    try insert((1...50).map { "e\($0)" })
    try database.psql(
      "insert into quake.quake (code, time, magnitude, place) values ('big', '2024-05-06Z', 7.1, 'There');"
    )
    let held = try run([
      "--exec", "echo \"$QUAKE_CODE\"", "--limit-rate", "3/d", "--state", "state",
    ]).expect(
      0, "more changes than 3/d: holding back the next ones",
      "held back 48 changes because of --limit-rate 3/d", lines: ["e1", "e2", "e3"])
    #expect(held.errors.contains("M  7.1  There (big)"), "it names the largest: \(held.errors)")
    #expect(try state() == tokens().last, "the cursor has passed them")

    // Lines, and each transaction as a whole.
    #expect(try run(["--limit-rate", "3/d", "--json"]).lines.count == 3)
    let batches = try run(["--exec-batch", "wc -l", "--limit-rate", "1/d"])
    #expect(batches.lines == ["50"], "a transaction is one command")
    #expect(batches.errors.contains("held back 1 change "))
    try run(["--limit-rate", "0/h"]).expect(64, "such as 10/h")
  }

  @Test func theNextCommandLearnsHowManyWereHeldBack() throws {
    // Six at once, and another every ten seconds: also a busy machine judges all of them before that.
    let watch = try watch([
      "--exec", "echo \"$QUAKE_CODE ${QUAKE_HELD_BACK-none}\"", "--limit-rate", "6/m",
    ])
    try watch.waitForError("watching after 0; Ctrl-C ends")
    try insert((1...20).map { "e\($0)" })
    #expect(try watch.lines(6) == (1...6).map { "e\($0) none" })
    // It is reported when changes may pass again, even if none comes.
    try watch.waitForError("held back 14 changes")
    try insert("next")
    #expect(try watch.line() == "next 14")
    try watch.end()
  }
}
