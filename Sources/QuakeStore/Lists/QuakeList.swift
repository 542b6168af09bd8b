public import QuakeModel

/// Events in an order, and the index of each of them.
struct QuakeList {
  private let order: QuakeOrder
  /// The events in their order.
  private(set) var quakes: [QuakeRecord] = []
  /// The sort key of each event in the list, by its code.
  private var keys: [String: Int64] = [:]

  init(order: QuakeOrder) {
    self.order = order
  }

  /// Whether an event is in the list.
  func contains(_ code: String) -> Bool {
    keys[code] != nil
  }

  /// Applies changes to the list. For `n` events and `m` changed ones it takes O(m log n), and O(n) to move
  /// the others if events are inserted or deleted.
  ///
  /// - Returns: The difference from the list before; empty if there is none.
  mutating func apply(_ changes: NetChanges) -> QuakeDifference {
    var edit = Edit()
    if changes.isCleared { removeAll(except: changes, into: &edit) }
    for (code, outcome) in changes.outcomes {
      switch (outcome, keys[code]) {
      case (.unlisted, nil): break
      case (.unlisted, let key?):
        edit.removed.append(index(of: code, key: key))
        keys[code] = nil
      case (.listed(let quake), nil):
        let sortKey = SortKey(key: order.key(of: quake), code: code)
        edit.added.append(Addition(quake: quake, sortKey: sortKey, from: nil))
        keys[code] = sortKey.key
      case (.listed(let quake), let key?):
        let index = index(of: code, key: key)
        guard quakes[index] != quake else { continue }
        let sortKey = SortKey(key: order.key(of: quake), code: code)
        if sortKey.key == key {
          edit.replaced.append((index, quake))
        } else {
          edit.shifted.append(Addition(quake: quake, sortKey: sortKey, from: index))
          keys[code] = sortKey.key
        }
      }
    }
    resolveMoves(&edit)
    return carryOut(&edit)
  }

  // MARK: - Order

  /// The position of an event in the order; its code decides between equal keys.
  private struct SortKey {
    var key: Int64
    var code: String
  }

  private func sorts(_ quake: QuakeRecord, before sortKey: SortKey) -> Bool {
    let key = order.key(of: quake)
    guard key == sortKey.key else { return key < sortKey.key }
    return quake.withUTF8(.code) { bytes in
      bytes.map { $0.lexicographicallyPrecedes(sortKey.code.utf8) } ?? true
    }
  }

  private static func sorts(_ left: SortKey, before right: SortKey) -> Bool {
    left.key == right.key
      ? left.code.utf8.lexicographicallyPrecedes(right.code.utf8) : left.key < right.key
  }

  private func index(of code: String, key: Int64) -> Int {
    let sortKey = SortKey(key: key, code: code)
    return quakes.partition { sorts($0, before: sortKey) }
  }

  // MARK: - Changing

  /// An event to insert.
  private struct Addition {
    var quake: QuakeRecord
    var sortKey: SortKey
    /// Its index before; nil if it is new.
    var from: Int?
  }

  /// The steps of an update, by indices in the present list.
  private struct Edit {
    var removed: [Int] = []
    var added: [Addition] = []
    var replaced: [(index: Int, quake: QuakeRecord)] = []
    /// Events with another sort key, which may or may not get another index.
    var shifted: [Addition] = []
  }

  private mutating func removeAll(except changes: NetChanges, into edit: inout Edit) {
    for (index, quake) in quakes.enumerated() {
      guard let code = quake.code, changes.outcomes[code] == nil else { continue }
      edit.removed.append(index)
      keys[code] = nil
    }
  }

  /// Decides which of the shifted events stay between their neighbours. An origin time corrected by a second
  /// seldom gives an event another index, and a view should not remove and insert it then.
  private func resolveMoves(_ edit: inout Edit) {
    edit.shifted.sort { $0.from ?? 0 < $1.from ?? 0 }
    let leaving = (edit.removed + edit.shifted.compactMap(\.from)).sorted()
    // The events that stay for certain divide the list into gaps. A shifted event keeps its index if it
    // is still in its gap, and behind the events that stay there before it.
    var last: (gap: Int, sortKey: SortKey)?
    for shifted in edit.shifted {
      guard let from = shifted.from else { continue }
      let to = quakes.partition { sorts($0, before: shifted.sortKey) }
      let gap = from - leaving.count(below: from)
      let isBehind = last.map { $0.gap < gap || Self.sorts($0.sortKey, before: shifted.sortKey) }
      if to - leaving.count(below: to) == gap, isBehind ?? true {
        edit.replaced.append((from, shifted.quake))
        last = (gap, shifted.sortKey)
      } else {
        edit.removed.append(from)
        edit.added.append(shifted)
      }
    }
  }

  private mutating func carryOut(_ edit: inout Edit) -> QuakeDifference {
    edit.removed.sort()
    edit.added.sort { Self.sorts($0.sortKey, before: $1.sortKey) }
    var difference = QuakeDifference()
    difference.deletions = edit.removed
    for (index, quake) in edit.replaced { quakes[index] = quake }
    remove(at: edit.removed)
    // The indices of the additions in the list of the remaining events; ascending.
    let slots = edit.added.map { addition in
      quakes.partition { sorts($0, before: addition.sortKey) }
    }
    insert(edit.added.map(\.quake), at: slots)
    for (number, addition) in edit.added.enumerated() {
      let index = slots[number] + number
      difference.insertions.append(index)
      if let from = addition.from { difference.moves.append(.init(from: from, to: index)) }
    }
    difference.modifications = edit.replaced.map { index, _ in
      let left = index - edit.removed.count(below: index)
      return left + slots.count(below: left + 1)
    }.sorted()
    return difference
  }

  /// In place: each remaining event behind a removed one moves once.
  private mutating func remove(at indices: [Int]) {
    guard var free = indices.first else { return }
    var next = indices.startIndex
    for index in free..<quakes.count {
      if next < indices.endIndex, indices[next] == index {
        next += 1
      } else {
        quakes.swapAt(free, index)
        free += 1
      }
    }
    quakes.removeLast(indices.count)
  }

  /// In place, from the end: each event behind an added one moves once.
  private mutating func insert(_ added: [QuakeRecord], at slots: [Int]) {
    var left = quakes.count
    quakes.append(contentsOf: added)
    for (number, quake) in added.enumerated().reversed() {
      while left > slots[number] {
        left -= 1
        quakes.swapAt(left, left + number + 1)
      }
      quakes[slots[number] + number] = quake
    }
  }
}

/// The order of a list of events. Equal events are ordered by their codes, byte by byte, so that the order of
/// every list is unambiguous.
public enum QuakeOrder: Sendable, CaseIterable {
  /// By origin time, newest first.
  case timeDescending
  /// By origin time, oldest first.
  case timeAscending
  /// By magnitude, largest first; events without one come last.
  case magnitudeDescending
  /// By magnitude, smallest first; events without one come last.
  case magnitudeAscending

  /// An event's sort key: the smaller comes first.
  func key(of quake: QuakeRecord) -> Int64 {
    switch self {
    case .timeDescending: quake.time.map { ~$0.microseconds } ?? .max
    case .timeAscending: quake.time?.microseconds ?? .max
    case .magnitudeDescending: quake.magnitude.map { ~Self.ordered($0) } ?? .max
    case .magnitudeAscending: quake.magnitude.map { Self.ordered($0) } ?? .max
    }
  }

  /// An integer that sorts as PostgreSQL sorts doubles: the zeros are equal, NaN is the
  /// largest.
  private static func ordered(_ value: Double) -> Int64 {
    let bits = Int64(bitPattern: (value.isNaN ? .nan : value == 0 ? 0 : value).bitPattern)
    // The bits of negative doubles grow with their distance from 0.
    return bits >= 0 ? bits : bits ^ .max
  }
}

/// The events as of a token, after which changes to them can be followed without a gap or a repeat.
public struct QuakeSnapshot: Sendable {
  /// The newest transaction that the events show.
  public let token: ChangeToken
  /// The events, newest origin time first.
  public let quakes: [QuakeRecord]
}

extension RandomAccessCollection where Index == Int {
  /// The first index whose element does not satisfy the predicate; `endIndex` if all do. The elements that
  /// satisfy it must come first.
  func partition(_ comesBefore: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = low + (high - low) / 2
      if comesBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension [Int] {
  /// How many of these ascending numbers are less than `limit`.
  func count(below limit: Int) -> Int {
    partition { $0 < limit }
  }
}
