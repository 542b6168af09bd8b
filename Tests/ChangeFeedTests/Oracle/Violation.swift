/// What is wrong with a feed.
struct Violation: Error, CustomStringConvertible {
  enum Kind: String, CaseIterable, Sendable {
    /// A committed change that never came.
    case lost
    /// A change that had come before.
    case repeated
    /// A change that came after a later one.
    case reordered
    /// A transaction of which only a part had come when the next began.
    case torn
    /// A change that the history does not hold, or holds otherwise.
    case unknown
    /// A change that the filter should have kept out.
    case wrongFilter
    /// Other contents than another watcher printed for the same change.
    case wrongContents
    /// Old values that are not what the change before had made them.
    case wrongOld
    /// A heartbeat that promises what was not so.
    case wrongHeartbeat
    /// A cursor ahead of what had been printed.
    case wrongCursor
    /// A line that is none.
    case malformed
    /// A state made of the feed that is not that of the table.
    case wrongState
    /// A number that is missing without a reason.
    case unexplainedGap
    /// A change that was printed only when the watcher read the history without a notification.
    case late
    /// A notification that says what is not so.
    case wrongNotification
    /// A notification that came before its transaction was committed.
    case earlyNotification
    /// A commit that was acknowledged and is not in the history, or one that was rolled back and is.
    case wrongHistory
  }

  let kind: Kind
  /// Where: a watcher's name.
  let feed: String
  let message: String

  var description: String { "\(feed): \(kind.rawValue): \(message)" }
}

/// Collects violations: all are counted, the first of each kind are kept.
struct Violations {
  private(set) var first: [Violation] = []
  private(set) var counts: [Violation.Kind: Int] = [:]
  let feed: String

  init(feed: String) {
    self.feed = feed
  }

  mutating func add(_ kind: Violation.Kind, _ message: @autoclosure () -> String, count: Int = 1) {
    guard count > 0 else { return }
    if counts[kind, default: 0] < 5 {
      first.append(Violation(kind: kind, feed: feed, message: message()))
    }
    counts[kind, default: 0] += count
  }

  mutating func add(_ other: Violations) {
    first += other.first
    counts.merge(other.counts, uniquingKeysWith: +)
  }

  var isEmpty: Bool { counts.isEmpty }
  var kinds: Set<Violation.Kind> { Set(counts.keys) }
}

extension Violations: CustomStringConvertible {
  var description: String {
    let totals = counts.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", ")
    return ([totals] + first.map(\.description)).joined(separator: "\n")
  }
}
