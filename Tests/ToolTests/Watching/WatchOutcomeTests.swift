import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-watch` with a token that is not, or no longer, in the history: it stops, or begins again
/// with a snapshot.
@Suite final class WatchOutcomeTests: ToolSuite {
  private func watch(_ arguments: [String]) throws -> ToolProcess {
    try database.start("quake-watch", ["--json"] + arguments)
  }

  @discardableResult
  private func purge(_ arguments: [String]) throws -> ToolProcess.Outcome {
    let consent = arguments.contains("--dry-run") ? [] : ["--yes"]
    let outcome = try database.succeed("quake-admin", ["history", "purge"] + arguments + consent)
    return outcome
  }

  /// Invalid tokens of each kind, with the reason and the message.
  private func invalidTokens() throws -> [(token: String, reason: String, words: String)] {
    try database.insert("a", "b", "c", "d")
    let tokens = try database.tokens()
    try purge(["--before", tokens[2]])
    return [
      (tokens[0], "expired", "token \(tokens[0]) has expired"),
      ("0", "expired", "token 0 has expired"),
      ("4.0000000\(tokens[3].hasSuffix("00000000") ? 1 : 0)", "diverged", "history diverged at"),
      ("77.0123abcd", "future", "token 77.0123abcd is in the future"),
    ]
  }

  @Test func invalidTokensEndItWithStatus65() throws {
    let invalid = try invalidTokens()
    let oldest = try database.tokens()[2]
    for (token, reason, words) in invalid {
      for follow in [[], ["--no-follow"]] {
        let outcome = try watch(["--after", token] + follow).exit().expect(65)
        #expect(outcome.errors.hasPrefix("quake-watch: error: \(words)"), "\(outcome.errors)")
        #expect(outcome.output.isEmpty)
        if reason == "expired" {
          #expect(outcome.errors.contains("the oldest token that is still valid"))
          #expect(outcome.errors.contains(oldest))
        }
      }
    }
    // The oldest valid token itself is accepted.
    let good = try watch(["--after", oldest, "--no-follow"]).exit().expect(0)
    #expect(good.lines.count == 1)
    for text in ["hello", "1", "1.XYZ", "-1.00000000"] {
      try watch(["--after=\(text)", "--on-expired", "snapshot"]).exit().expectFailure(
        65, "malformed token \"\(text)\"", "\n  hint: ")
    }
  }

  @Test func onRequestInvalidTokensCauseOneResetAndASnapshot() throws {
    for (token, reason, words) in try invalidTokens() {
      let newest = try #require(try database.tokens().last)
      let file = folder.path + "/cursor-\(token)"
      if token != "0" { try folder.write("cursor-\(token)", token + "\n") }
      let watch = try watch(
        ["--on-expired", "snapshot", "--state", file] + (token == "0" ? ["--from-start"] : []))
      let stored = try database.count("quake.quake")
      let lines = try watch.lines(1 + stored).map(JSONLine.init)
      #expect(lines[0].string("op") == "reset" && lines[0].string("reason") == reason)
      #expect(lines[0].string("after") == token && lines[0].string("token") == newest)
      #expect(lines.dropFirst().allSatisfy { $0.string("op") == "snapshot" })
      #expect(Set(lines.dropFirst().compactMap { $0.string("code") }).count == stored)
      #expect(watch.errorText.contains("warning: \(words)"), "\(watch.errorText)")
      // Then come the new changes.
      try database.insert("after \(token)")
      let next = try JSONLine(watch.line())
      #expect(next.string("op") == "insert" && next.string("code") == "after \(token)")
      watch.signal(SIGTERM)
      try watch.exit().expect(0, output: "")
      // The cursor is after the snapshot: the next run needs no reset.
      try self.watch(["--on-expired", "snapshot", "--state", file, "--no-follow"]).exit().expect(
        0, output: "", errors: "")
    }
  }

  /// A history that is purged faster than it is followed is an error, not a reset again and again.
  @Test func itResetsOnceAndNotInALoop() throws {
    try database.insert("a", "b", "c")
    try purge(["--before", try database.tokens()[1]])
    let watch = try watch(["--after", try database.tokens()[0], "--on-expired", "snapshot"])
    let lines = try watch.lines(4).map { try JSONLine($0).string("op") }
    #expect(lines == ["reset", "snapshot", "snapshot", "snapshot"])
    try watch.stop()
    try database.insert("d", "e")
    try purge(["--before", try #require(try database.tokens().last)])
    watch.signal(SIGCONT)
    try watch.exit().expectFailure(65, "error: token", "has expired")
  }

  /// The connection is lost during the snapshot. The snapshot is begun again, after a reset that
  /// makes the first part invalid.
  @Test(arguments: [[], ["--on-expired", "snapshot", "--from-start"]])
  func anInterruptedSnapshotIsBegunAgain(_ resetting: [String]) throws {
    try database.insert("a", "b")
    try purge(["--before", try #require(try database.tokens().last)])
    try database.psql(
      """
      insert into quake.quake (code, time, place)
      select 'e' || n, now(), repeat('x', 4000) from generate_series(1, 1500) n;
      """)
    let watch = try watch(resetting.isEmpty ? ["--snapshot"] : resetting)
    let first = try watch.lines(10).compactMap { try JSONLine($0).string("op") }
    let reset = resetting.isEmpty ? [] : ["reset"]
    #expect(first == reset + Array(repeating: "snapshot", count: 10 - reset.count))
    try database.endSessions(of: "quake-watch")
    var line = try JSONLine(watch.line())
    while line.string("op") == "snapshot" { line = try JSONLine(watch.line()) }
    #expect(line.string("op") == "reset")
    #expect(line.string("reason") == (resetting.isEmpty ? "interrupted" : "expired"))
    try watch.waitForError("lost the connection to the database")
    let codes = try watch.lines(1502).compactMap { line -> String? in
      let line = try JSONLine(line)
      return line.string("op") == "snapshot" ? line.string("code") : nil
    }
    #expect(Set(codes).count == 1502)
    try database.insert("after")
    #expect(try JSONLine(watch.line()).string("code") == "after")
  }

  @Test func aNamedWatcherHasADurableCursor() throws {
    try database.insert("a", "b")
    func read(_ arguments: [String]) throws -> [String?] {
      try watch(["--no-follow", "--name", "alerts"] + arguments).exit().requireSuccess().lines.map {
        try JSONLine($0).string("code")
      }
    }
    #expect(try read(["--from-start", "--limit", "1"]) == ["a"])
    try database.insert("c")
    #expect(try read(["--from-start"]) == ["b", "c"])
    #expect(try read([]) == [])
    // Changes that do not pass the filter count as done, too.
    try database.insert("d")
    #expect(try read(["--op", "delete"]) == [])
    #expect(try read([]) == [])
    let newest = try #require(try database.tokens().last)
    #expect(try database.value("select token from quake.watcher_lag") == newest)

    try database.insert("e", "f")
    let listed = try database.run("quake-admin", ["watchers", "--json"])
    let line = try JSONLine(#require(listed.lines.first))
    #expect(listed.lines.count == 1 && line.string("name") == "alerts")
    #expect(line.string("token") == newest && line.integer("tokens_behind") == 2)
    let seconds = try #require(line.double("seconds_behind"))
    #expect(seconds > 0 && seconds < 60)
    let table = try database.run("quake-admin", ["watchers"]).lines
    #expect(table.count == 2 && table[1].hasPrefix("alerts  \(newest)"))

    // The cursor holds back the purge, which names the watcher.
    let dry = try purge(["--before", try #require(try database.tokens().last), "--dry-run"])
    #expect(
      dry.lines.first?.contains("watcher \"alerts\" holds the history after \(newest)") == true)
    #expect(dry.lines.last?.contains("the oldest valid token is \(newest)") == true)
    #expect(try database.value("select token from quake.history_floor") == "0")
    #expect(
      try purge(["--before", try #require(try database.tokens().last)]).errors.contains(
        "\"alerts\""))
    #expect(try read([]) == ["e", "f"])
    // But only up to --hold-limit.
    try database.insert("g")
    try purge(["--before", "0d", "--hold-limit", "0s"])
    try watch(["--no-follow", "--name", "alerts"]).exit().expect(
      65, "has expired", "--on-expired snapshot")
    #expect(
      try read(["--on-expired", "snapshot"]) == [nil, "g", "f", "e", "d", "c", "b", "a"])
    #expect(try read([]) == [])
    try database.succeed("quake-admin", ["watchers", "remove", "alerts", "--yes"])
    #expect(try database.run("quake-admin", ["watchers", "remove", "alerts", "--yes"]).status == 1)
  }

  /// The last watcher that takes a name has its cursor. The earlier one ends, and has not moved the
  /// cursor since.
  @Test func aNameBelongsToOneProcess() throws {
    let first = try watch(["--from-start", "--name", "n"])
    try database.insert("a")
    #expect(try JSONLine(first.line()).string("code") == "a")
    let second = try watch(["--name", "n"])
    try eventually("the second has taken the cursor") {
      try database.sessions(
        of: "quake-watch", where: "state = 'idle' and query like 'select t.token, v.id%'") == 2
    }
    try database.insert("b")
    #expect(try JSONLine(second.line()).string("code") == "b")
    try first.exit().expect(75, "cursor \"n\" was taken over by another process")
    try database.insert("c")
    #expect(try JSONLine(second.line()).string("code") == "c")
  }

  @Test func heartbeatsCarryTheNewestTokenOfAFilteredWatch() throws {
    let file = folder.path + "/cursor"
    let watch = try watch(
      ["--heartbeat", "100ms", "--min-magnitude", "9", "--from-start", "--state", file])
    #expect(try JSONLine(watch.line()).string("token") == "0")
    for round in 1...2 {
      try database.insert("small \(round)")
      let newest = try #require(try database.tokens().last)
      var line = try JSONLine(watch.line())
      while line.string("token") != newest { line = try JSONLine(watch.line()) }
      #expect(line.string("op") == "heartbeat" && line.isNull("position"))
      #expect(line.isNull("code") && line.isNull("new") && line.isNull("old"))
      #expect(line.string("at")?.hasSuffix("Z") == true)
      // It is written after the line.
      try eventually("the cursor is that of the heartbeat") {
        try contents(of: file) == newest + "\n"
      }
    }
    try database.psql("insert into quake.quake (code, time, magnitude) values ('great', now(), 9);")
    var line = try JSONLine(watch.line())
    while line.string("op") == "heartbeat" { line = try JSONLine(watch.line()) }
    #expect(line.string("code") == "great")
    #expect(try JSONLine(watch.line()).string("token") == line.string("token"))
    #expect(try self.watch(["--heartbeat", "1ms"]).exit().status == 64)
  }
}
