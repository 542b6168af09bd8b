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
