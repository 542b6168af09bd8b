import QuakeModel

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
