/// Goes along a feed and the history at once.
struct FeedWalk {
  private let history: KnownHistory
  private let digests: [UInt32]
  private let mask: [Bool]?
  private let start: Int
  /// The first change that has not come yet, leaving out what was passed over.
  private var next: Int
  /// What was passed over and has not come since.
  private var missing: Set<Int> = []
  /// The transaction of the last change, and the newest token of a heartbeat.
  private var current: Int64 = 0
  private var heartbeat: Int64 = 0
  private var violations: Violations

  init(history: KnownHistory, digests: [UInt32], mask: [Bool]?, start: Int, feed: String) {
    self.history = history
    self.digests = digests
    self.mask = mask
    self.start = start
    next = start
    violations = Violations(feed: feed)
  }

  mutating func take(_ line: FeedLine) {
    switch line.kind {
    case .heartbeat: takeHeartbeat(line)
    case .reset, .snapshot: violations.add(.unknown, "\(line) in the middle")
    case .insert, .update, .delete, .truncate: takeChange(line)
    }
  }

  private mutating func takeChange(_ line: FeedLine) {
    skipWhatDoesNotPass()
    if next < history.changes.count, history.changes[next].isSameChange(as: line) {
      compareContents(line, next)
      next += 1
      current = line.token
    } else {
      takeUnexpected(line)
    }
    if line.token <= heartbeat {
      violations.add(.wrongHeartbeat, "\(line) came after the heartbeat of \(heartbeat)")
    }
  }

  private mutating func takeUnexpected(_ line: FeedLine) {
    guard let index = history.index(token: line.token, position: line.position),
      history.changes[index].isSameChange(as: line)
    else { return violations.add(.unknown, "\(line)") }
    compareContents(line, index)
    if let mask, !mask[index] { return violations.add(.wrongFilter, "\(line)") }
    if index < next {
      if missing.remove(index) != nil {
        violations.add(.reordered, "\(line) came after \(history.changes[next - 1])")
      } else {
        violations.add(.repeated, "\(line)")
      }
      return
    }
    if line.token != current, current > 0, next < history.changes.count,
      history.changes[next].token == current
    {
      violations.add(.torn, "\(line) came before the rest of \(current)")
    }
    for skipped in next..<index where passes(skipped) { missing.insert(skipped) }
    next = index + 1
    current = line.token
  }

  private mutating func takeHeartbeat(_ line: FeedLine) {
    skipWhatDoesNotPass()
    guard let end = history.end(of: line.token),
      line.token == 0 || history.changes[end - 1].nonce == line.nonce
    else { return violations.add(.wrongHeartbeat, "\(line) is of no transaction") }
    if line.token < max(heartbeat, current) {
      violations.add(.wrongHeartbeat, "\(line) is older than what came before")
    }
    if next < end {
      violations.add(.wrongHeartbeat, "\(line) came before \(history.changes[next])")
    }
    heartbeat = max(heartbeat, line.token)
  }

  private func passes(_ index: Int) -> Bool { mask?[index] ?? true }

  private mutating func skipWhatDoesNotPass() {
    guard let mask else { return }
    while next < mask.count, !mask[next] { next += 1 }
  }

  private mutating func compareContents(_ line: FeedLine, _ index: Int) {
    guard !digests.isEmpty, digests[index] != line.digest else { return }
    violations.add(.wrongContents, "\(line)")
  }

  mutating func finish(isWhole: Bool) -> ChangeOracle.Verdict {
    skipWhatDoesNotPass()
    for index in missing.sorted() { violations.add(.lost, "\(history.changes[index])") }
    if isWhole, next < history.changes.count {
      let rest = (next..<history.changes.count).filter { passes($0) }
      if let first = rest.first {
        violations.add(.lost, "all from \(history.changes[first]) on", count: rest.count)
      }
    }
    return ChangeOracle.Verdict(violations: violations, next: next)
  }
}
