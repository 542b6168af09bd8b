import QuakeModel
import TestSupport
import Testing

/// The oracle itself: each fault must be reported, and nothing else.
@Suite struct OracleTests {
  private static let lines = HandMadeFeed.lines

  private func record(_ lines: [String]) -> FeedRecorder {
    let recorder = FeedRecorder(checksValues: true)
    for line in lines { recorder.feed(line) }
    return recorder
  }

  /// What the oracle says of lines.
  private func faults(
    _ lines: [String], after place: String = "0", filter: String? = nil, isWhole: Bool = true
  ) throws -> Set<Violation.Kind> {
    var oracle = ChangeOracle(HandMadeFeed.history)
    oracle.takeContents(of: record(Self.lines).lines)
    return try oracle.judge(
      record(lines).lines, of: "feed", after: #require(HistoryCursor(place)), filter: filter,
      isWhole: isWhole
    ).violations.kinds
  }

  @Test func aRightFeedIsRight() throws {
    #expect(Self.lines.count == 11)
    #expect(try faults(Self.lines) == [])
    #expect(record(Self.lines).valueFaults == [])
    #expect(record(Self.lines).malformedCount == 0)
    let beats =
      [HandMadeFeed.heartbeat(0)] + Self.lines[..<3] + [HandMadeFeed.heartbeat(2)]
      + Self.lines[3...] + [HandMadeFeed.heartbeat(6), HandMadeFeed.heartbeat(6)]
    #expect(try faults(beats) == [])
  }

  @Test func piecesOfAnySizeMakeTheSameLines() throws {
    let bytes = Array(Self.lines.joined().utf8)
    for size in [1, 2, 7, 100, 1000, bytes.count] {
      let recorder = FeedRecorder(checksValues: true)
      for start in stride(from: 0, to: bytes.count, by: size) {
        bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { recorder.feed($0) }
      }
      #expect(recorder.lines == record(Self.lines).lines, "in pieces of \(size)")
      #expect(recorder.valueFaults == [])
      #expect(recorder.pendingCount == 0)
    }
  }

  /// The right lines, with others in place of some.
  private func changed(_ range: Range<Int>, _ others: String...) -> [String] {
    var lines = Self.lines
    lines.replaceSubrange(range, with: others)
    return lines
  }

  @Test func eachFaultOfAFeedIsReported() throws {
    let right = Self.lines
    #expect(try faults(changed(2..<3)) == [.lost])
    #expect(try faults(changed(10..<11)) == [.lost])
    #expect(try faults(changed(10..<11), isWhole: false) == [])
    #expect(try faults([]) == [.lost])
    #expect(try faults(changed(6..<6, right[1])) == [.repeated])
    #expect(try faults(changed(0..<2, right[1], right[0])) == [.reordered])
    // The second half of transaction 3 after transaction 4, and not at all.
    #expect(try faults(changed(5..<7, right[6], right[5])) == [.torn, .reordered])
    #expect(try faults(changed(5..<6)) == [.torn, .lost])
    // What was never committed.
    let future = HandMadeFeed.line(token: 7, 0, "insert", "x", old: nil, new: 1)
    #expect(try faults(changed(11..<11, future)) == [.unknown])
    let other = HandMadeFeed.line(token: 2, 0, "update", "b", old: 2, new: 3)
    #expect(try faults(changed(2..<3, other)) == [.unknown, .lost])
    let wrong = HandMadeFeed.line(token: 2, 0, "update", "a", old: 1, new: 99)
    #expect(try faults(changed(2..<3, wrong)) == [.wrongContents])
  }

  @Test func wrongOldValuesAreReported() throws {
    for (index, op, old) in [(2, "update", 7), (4, "delete", 99), (2, "update", nil)] {
      var lines = Self.lines
      let parsed = try #require(record([lines[index]]).lines.first)
      lines[index] = HandMadeFeed.line(
        token: Int(parsed.token), Int(parsed.position), op, index == 4 ? "b" : "a", old: old,
        new: op == "delete" ? nil : 3)
      #expect(!record(lines).valueFaults.isEmpty, "\(index) \(op) \(String(describing: old))")
    }
    // An event that is there is not inserted; a deleted one has no values.
    var lines = Self.lines
    lines[6] = HandMadeFeed.line(token: 4, 0, "insert", "c", old: nil, new: 7)
    #expect(!record(lines).valueFaults.isEmpty)
    lines = Self.lines
    lines[4] = HandMadeFeed.line(token: 3, 1, "delete", "b", old: 2, new: 2)
    #expect(!record(lines).valueFaults.isEmpty)
    // A truncate takes all values away.
    #expect(!record(Self.lines.filter { !$0.contains("truncate") }).valueFaults.isEmpty)
  }

  @Test func aWrongFilterIsReported() throws {
    let inserts = Self.lines.filter { $0.contains("\"insert\"") }
    #expect(try faults(inserts, filter: "inserts") == [])
    #expect(try faults(Self.lines, filter: "inserts") == [.wrongFilter])
    for index in inserts.indices {
      var lines = inserts
      lines.remove(at: index)
      #expect(try faults(lines, filter: "inserts").contains(.lost))
    }
    // A heartbeat beyond what does not pass.
    let beats = inserts[..<2] + [HandMadeFeed.heartbeat(2)] + inserts[2...]
    #expect(try faults(Array(beats), filter: "inserts") == [])
  }

  @Test func aWrongHeartbeatIsReported() throws {
    func with(_ beat: String, at index: Int) throws -> Set<Violation.Kind> {
      try faults(changed(index..<index, beat))
    }
    #expect(try with(HandMadeFeed.heartbeat(2), at: 2) == [.wrongHeartbeat], "too early")
    #expect(try with(HandMadeFeed.heartbeat(1), at: 4) == [.wrongHeartbeat], "too late")
    #expect(try with(HandMadeFeed.heartbeat(3), at: 5) == [.wrongHeartbeat], "within")
    let foreign = HandMadeFeed.heartbeat(2).replacing("2.00000002", with: "2.0000000f")
    #expect(try with(foreign, at: 3) == [.wrongHeartbeat], "another history's")
    #expect(try with(HandMadeFeed.heartbeat(7), at: 11) == [.wrongHeartbeat], "in the future")
    let backwards = changed(11..<11, HandMadeFeed.heartbeat(6), HandMadeFeed.heartbeat(5))
    #expect(try faults(backwards) == [.wrongHeartbeat])
  }

  @Test func aFeedBeginsWhereItShould() throws {
    #expect(try faults(changed(0..<3), after: "2.00000002") == [])
    #expect(try faults(changed(0..<3), after: "1.00000001") == [.lost])
    #expect(try faults(changed(0..<3), after: "3.00000003") == [.repeated])
    #expect(try faults(changed(0..<4), after: "3.00000003 1") == [])
    #expect(try faults([], after: "9.00000009") == [.unknown])
  }

  @Test func whatIsNoLineIsReported() {
    for text in ["\n", "{}\n", String(Self.lines[0].dropLast(30)) + "\n", "x" + Self.lines[0]] {
      let recorder = record([text])
      #expect(recorder.malformedCount == 1 && recorder.lines.isEmpty, "\(text)")
    }
    #expect(record([String(Self.lines[0].dropLast(30))]).pendingCount > 0)
  }

  // MARK: Several runs

  /// Runs of lines, each with where it began; all but the last were killed.
  private func faultsOfRuns(
    _ runs: [(place: String?, lines: ArraySlice<String>)], filter: String? = nil
  ) throws -> Set<Violation.Kind> {
    let all = try runs.enumerated().map { number, run in
      FeedRun(
        place: try run.place.map { try #require(HistoryCursor($0)) },
        recorder: record(Array(run.lines)), wasKilled: number < runs.count - 1)
    }
    return RunsVerdict.judge(
      all, of: "feed", filter: filter, by: ChangeOracle(HandMadeFeed.history)
    ).kinds
  }

  @Test func aKilledRunMayBeRepeatedFromItsPlaceOnOnly() throws {
    let lines = Self.lines
    #expect(try faultsOfRuns([("0", lines[..<5]), ("2.00000002", lines[3...])]) == [])
    #expect(try faultsOfRuns([("0", lines[..<5]), ("3.00000003 2", lines[5...])]) == [])
    #expect(try faultsOfRuns([("0", lines[..<5]), (nil, lines[3...])]) == [])
    #expect(try faultsOfRuns([("0", lines[..<2]), ("0", lines[..<1]), ("0", lines[...])]) == [])
    // Before its place.
    #expect(try faultsOfRuns([("0", lines[..<5]), ("2.00000002", lines[2...])]) == [.repeated])
    // The place was ahead of what had been printed.
    #expect(try faultsOfRuns([("0", lines[..<2]), ("2.00000002", lines[3...])]) == [.wrongCursor])
    #expect(try faultsOfRuns([("0", lines[..<2]), (nil, lines[3...])]) == [.wrongCursor])
    #expect(
      try faultsOfRuns([("0", lines[..<2]), ("0", lines[..<1]), ("3.00000003", lines[6...])])
        == [.wrongCursor])
    // Less than its place.
    #expect(try faultsOfRuns([("0", lines[..<5]), ("2.00000002", lines[4...])]) == [.lost])
    // What did not pass may be left out.
    let inserts = lines.filter { $0.contains("\"insert\"") }
    #expect(
      try faultsOfRuns([("0", inserts[..<2]), ("2.00000002", inserts[2...])], filter: "inserts")
        == [])
    #expect(
      try faultsOfRuns([("0", inserts[..<1]), ("2.00000002", inserts[2...])], filter: "inserts")
        == [.wrongCursor])
  }

  @Test func onlyAKilledRunMayEndWithinALine() throws {
    let cut = Self.lines[..<4] + [String(Self.lines[4].dropLast(9))]
    #expect(try faultsOfRuns([("0", cut), ("2.00000002", Self.lines[3...])]) == [])
    #expect(try faultsOfRuns([("0", cut)]).contains(.malformed))
  }
}

/// A small history made by hand, and the lines of a watcher that prints it.
enum HandMadeFeed {
  /// What happens, transaction by transaction: op and code.
  static let transactions: [[(op: String, code: String?)]] = [
    [("insert", "a"), ("insert", "b")],
    [("update", "a")],
    [("update", "a"), ("delete", "b"), ("insert", "c")],
    [("insert", "b")],
    [("truncate", nil)],
    [("insert", "a"), ("update", "a"), ("insert", "d")],
  ]

  /// Every line, in order.
  static let lines: [String] = {
    var values: [String: Int] = [:]
    var count = 0
    var lines: [String] = []
    for (index, transaction) in transactions.enumerated() {
      for (position, change) in transaction.enumerated() {
        count += 1
        let old = change.code.flatMap { values[$0] }
        if change.op == "truncate" { values = [:] }
        if let code = change.code { values[code] = change.op == "delete" ? nil : count }
        lines.append(
          line(
            token: index + 1, position, change.op, change.code, old: old,
            new: change.code.flatMap { values[$0] }))
      }
    }
    return lines
  }()

  static func line(
    token: Int, _ position: Int, _ op: String, _ code: String?, old: Int?, new: Int?
  ) -> String {
    func values(_ value: Int?) -> String {
      value.map { "{\"code\":\"\(code ?? "")\",\"place\":\"\\\",\\\"new\\\":\",\"felt\":\($0)}" }
        ?? "null"
    }
    return "{\"token\":\"\(token).0000000\(token)\",\"position\":\(position),\"op\":\"\(op)\","
      + "\"code\":\(code.map { "\"\($0)\"" } ?? "null"),\"changed\":[],\"old\":\(values(old)),"
      + "\"new\":\(values(new)),\"transaction\":{\"author\":null}}\n"
  }

  static func heartbeat(_ token: Int) -> String {
    "{\"token\":\"\(token == 0 ? "0" : "\(token).0000000\(token)")\",\"position\":null,"
      + "\"op\":\"heartbeat\",\"code\":null,\"changed\":[],\"old\":null,\"new\":null,"
      + "\"transaction\":null,\"at\":\"2026-01-01T00:00:00.000Z\"}\n"
  }

  /// The history that the tables would hold; the filter "inserts" lets inserts through.
  static let history: KnownHistory = {
    let recorder = FeedRecorder()
    for line in lines { recorder.feed(line) }
    return KnownHistory(
      recorder.lines, passes: ["inserts": recorder.lines.map { $0.kind == .insert }])
  }()
}
