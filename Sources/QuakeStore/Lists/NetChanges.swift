internal import QuakeModel

/// The net effect of any number of changes on a list of the events that pass a filter: the last state of
/// each event that they touch.
struct NetChanges {
  /// The last state of an event.
  enum Outcome {
    case listed(QuakeRecord)
    case unlisted
  }

  /// Whether all events that are not in `outcomes` are gone.
  private(set) var isCleared = false
  /// By code. An event that is not in the list, before or after, has none.
  private(set) var outcomes: [String: Outcome] = [:]

  /// No change.
  init() {}

  /// The changes that make any list one of exactly these events.
  init(replacingAllWith quakes: [QuakeRecord]) {
    isCleared = true
    outcomes.reserveCapacity(quakes.count)
    for quake in quakes {
      if let code = quake.code { outcomes[code] = .listed(quake) }
    }
  }

  /// Adds the next change.
  ///
  /// - Parameters:
  ///   - filter: Which events the list has; its conditions on changes do not count.
  ///   - list: The list as it was before the first change.
  mutating func add(_ change: Change, filter: QuakeFilter, list: QuakeList) {
    guard let code = change.code else {
      isCleared = true
      outcomes = [:]
      return
    }
    if let new = change.new, filter.accepts(new) {
      outcomes[code] = .listed(new)
    } else if !isCleared, list.contains(code) {
      outcomes[code] = .unlisted
    } else {
      outcomes[code] = nil
    }
  }
}
