import QuakeModel

/// Judges what a watcher printed by what was committed: every committed change that its filter lets
/// through, once, in the order of commits, in whole transactions, from the place where it began.
struct ChangeOracle {
  let history: KnownHistory
  /// The checksum of each change's line as an unfiltered watcher printed it, at the place of the
  /// change in the history; empty: contents are not compared.
  var digests: [UInt32] = []

  init(_ history: KnownHistory) {
    self.history = history
  }

  /// Takes the lines of an unfiltered feed, already found right, as those to compare others with.
  mutating func takeContents(of lines: [FeedLine]) {
    digests = lines.filter { $0.position >= 0 }.map(\.digest)
    precondition(digests.count == history.changes.count, "that feed is not whole")
  }

  /// What was found, and where in the history the feed ended: all changes before `next` had come, or
  /// were not to come.
  struct Verdict {
    var violations: Violations
    var next: Int
  }

  /// Judges one run of a watcher.
  ///
  /// - Parameters:
  ///   - place: Where it began.
  ///   - filter: The name of its filter.
  ///   - isWhole: Whether it must have come to the end of the history.
  func judge(
    _ lines: [FeedLine], of feed: String,
    after place: HistoryCursor = HistoryCursor(token: .beginning),
    filter: String? = nil, isWhole: Bool = true
  ) -> Verdict {
    guard let start = index(after: place) else {
      var violations = Violations(feed: feed)
      violations.add(.unknown, "it began after \(place), which is not of this history")
      return Verdict(violations: violations, next: 0)
    }
    var walk = FeedWalk(
      history: history, digests: digests, mask: filter.flatMap { history.passes[$0] }, start: start,
      feed: feed)
    for line in lines { walk.take(line) }
    return walk.finish(isWhole: isWhole)
  }

  /// The place in the history of the first change after a place.
  func index(after place: HistoryCursor) -> Int? {
    if place.changes == 0 { return history.end(of: place.token.number) }
    return history.index(token: place.token.number, position: Int32(place.changes) - 1)
      .map { $0 + 1 }
  }
}

/// One run of a watcher's program.
struct FeedRun {
  /// Where it began; nil: where its first line says.
  var place: HistoryCursor?
  var recorder: FeedRecorder
  /// Then its last line may be cut off.
  var wasKilled = false
}

/// Judges a feed that was printed by several runs, each from where the one before had kept its place.
enum RunsVerdict {
  /// The last run must have come to the end. A run may repeat what one before had printed, from the
  /// place that was kept on; it may not leave out anything.
  static func judge(
    _ runs: [FeedRun], of name: String, filter: String? = nil, by oracle: ChangeOracle
  ) -> Violations {
    var violations = Violations(feed: name)
    let passes = filter.flatMap { oracle.history.passes[$0] }
    var reached = 0
    for (number, run) in runs.enumerated() {
      violations.add(
        .malformed, "lines of run \(number + 1) that are none", count: run.recorder.malformedCount)
      if !run.wasKilled, run.recorder.pendingCount > 0 {
        violations.add(.malformed, "run \(number + 1) ended within a line")
      }
      let lines = run.recorder.lines
      let isLast = number == runs.count - 1
      guard let place = run.place ?? beginning(of: lines, oracle) else {
        if isLast { violations.add(.lost, "the last run printed nothing") }
        continue
      }
      if let start = oracle.index(after: place), start > reached {
        let skipped = (reached..<start).filter { passes?[$0] ?? true }
        if let first = skipped.first {
          violations.add(
            .wrongCursor,
            "run \(number + 1) began after \(place), without \(oracle.history.changes[first])",
            count: skipped.count)
        }
      }
      let verdict = oracle.judge(lines, of: name, after: place, filter: filter, isWhole: isLast)
      violations.add(verdict.violations)
      reached = max(reached, verdict.next)
    }
    return violations
  }

  /// Where a run began, by its first line.
  private static func beginning(of lines: [FeedLine], _ oracle: ChangeOracle) -> HistoryCursor? {
    guard let first = lines.first else { return nil }
    if first.position < 0 { return place(first, changes: 0) }
    guard let index = oracle.history.index(token: first.token, position: first.position), index > 0
    else { return HistoryCursor(token: .beginning) }
    let before = oracle.history.changes[index - 1]
    return place(before, changes: Int64(before.position) + 1)
  }

  private static func place(_ line: FeedLine, changes: Int64) -> HistoryCursor? {
    line.changeToken.map { HistoryCursor(token: $0, changes: changes) }
  }
}
