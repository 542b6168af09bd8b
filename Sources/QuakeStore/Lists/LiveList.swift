internal import QuakeModel
internal import QuakeQuery

/// Events in an order, and the index of each of them.
struct LiveList {
  private let order: ListOrder
  private(set) var events: [EventRecord] = []
  /// The sort key of each event in the list, by its code.
  private var keys: [EventCode: ListOrder.Key] = [:]

  init(order: ListOrder) {
    self.order = order
  }

  /// Whether an event is in the list.
  func contains(_ code: EventCode) -> Bool {
    keys[code] != nil
  }

  /// Applies changes to the list. For `n` events and `m` changed ones it takes O(m log n), and O(n) to move
  /// the others if events are inserted or deleted.
  ///
  /// - Returns: The difference from the list before; empty if there is none.
  mutating func apply(_ changes: NetChanges) -> LiveEvents.Difference {
    var edit = Edit()
    if changes.isCleared { removeAll(except: changes, into: &edit) }
    for (code, outcome) in changes.outcomes {
      switch (outcome, keys[code]) {
      case (.unlisted, nil): break
      case (.unlisted, let key?):
        edit.removed.append(index(of: code, key: key))
        keys[code] = nil
      case (.listed(let event), nil):
        let sortKey = SortKey(key: order.key(of: event), code: code)
        edit.added.append(Addition(event: event, sortKey: sortKey, from: nil))
        keys[code] = sortKey.key
      case (.listed(let event), let key?):
        let index = index(of: code, key: key)
        guard events[index] != event else { continue }
        let sortKey = SortKey(key: order.key(of: event), code: code)
        if sortKey.key == key {
          edit.replaced.append((index, event))
        } else {
          edit.shifted.append(Addition(event: event, sortKey: sortKey, from: index))
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
    var key: ListOrder.Key
    var code: EventCode
  }

  private func sorts(_ event: EventRecord, before sortKey: SortKey) -> Bool {
    for (index, column) in order.columns.enumerated() {
      let value = ListOrder.value(of: event, in: column)
      let other = index == 0 ? sortKey.key.first : sortKey.key.rest[index - 1]
      guard value == other else { return value < other }
    }
    return event.withUTF8(.code) { bytes in
      bytes.map { $0.lexicographicallyPrecedes(sortKey.code.text.utf8) } ?? true
    }
  }

  private static func sorts(_ left: SortKey, before right: SortKey) -> Bool {
    left.key == right.key ? left.code < right.code : left.key < right.key
  }

  private func index(of code: EventCode, key: ListOrder.Key) -> Int {
    let sortKey = SortKey(key: key, code: code)
    return events.partition { sorts($0, before: sortKey) }
  }

  // MARK: - Changing

  private struct Addition {
    var event: EventRecord
    var sortKey: SortKey
    /// Its index before; nil if it is new.
    var from: Int?
  }

  /// The steps of an update, by indices in the present list.
  private struct Edit {
    var removed: [Int] = []
    var added: [Addition] = []
    var replaced: [(index: Int, event: EventRecord)] = []
    /// Events with another sort key, which may or may not get another index.
    var shifted: [Addition] = []
  }

  private mutating func removeAll(except changes: NetChanges, into edit: inout Edit) {
    for (index, event) in events.enumerated() {
      guard let code = event.code.map({ EventCode($0) }), changes.outcomes[code] == nil
      else { continue }
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
      let to = events.partition { sorts($0, before: shifted.sortKey) }
      let gap = from - leaving.count(below: from)
      let isBehind = last.map { $0.gap < gap || Self.sorts($0.sortKey, before: shifted.sortKey) }
      if to - leaving.count(below: to) == gap, isBehind ?? true {
        edit.replaced.append((from, shifted.event))
        last = (gap, shifted.sortKey)
      } else {
        edit.removed.append(from)
        edit.added.append(shifted)
      }
    }
  }

  private mutating func carryOut(_ edit: inout Edit) -> LiveEvents.Difference {
    edit.removed.sort()
    edit.added.sort { Self.sorts($0.sortKey, before: $1.sortKey) }
    var difference = LiveEvents.Difference()
    difference.deletions = edit.removed
    for (index, event) in edit.replaced { events[index] = event }
    remove(at: edit.removed)
    // The indices of the additions in the list of the remaining events; ascending.
    let slots = edit.added.map { addition in
      events.partition { sorts($0, before: addition.sortKey) }
    }
    insert(edit.added.map(\.event), at: slots)
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
    for index in free..<events.count {
      if next < indices.endIndex, indices[next] == index {
        next += 1
      } else {
        events.swapAt(free, index)
        free += 1
      }
    }
    events.removeLast(indices.count)
  }

  /// In place, from the end: each event behind an added one moves once.
  private mutating func insert(_ added: [EventRecord], at slots: [Int]) {
    var left = events.count
    events.append(contentsOf: added)
    for (number, event) in added.enumerated().reversed() {
      while left > slots[number] {
        left -= 1
        events.swapAt(left, left + number + 1)
      }
      events[slots[number] + number] = event
    }
  }
}

/// The order of a list that is sorted here: by columns that are no texts, whose order is that of the database's
/// collation, and then by the codes, byte by byte.
struct ListOrder {
  /// The place of an event in the order, without its code: the smaller comes first.
  struct Key: Comparable {
    /// The value of the first column.
    var first: Int64
    /// Those of the others; most orders have none.
    var rest: [Int64]

    static func < (left: Key, right: Key) -> Bool {
      left.first == right.first
        ? left.rest.lexicographicallyPrecedes(right.rest) : left.first < right.first
    }
  }

  /// The columns before the code.
  let columns: [EventOrder]

  /// An order; nil if it has a text before its end.
  init?(_ orders: [EventOrder]) {
    var total = EventOrder.total(orders)
    guard total.popLast() == EventOrder(.code), !total.contains(where: { $0.column.kind == .text })
    else { return nil }
    columns = total
  }

  func key(of event: EventRecord) -> Key {
    let values = columns.map { Self.value(of: event, in: $0) }
    return Key(first: values.first ?? 0, rest: Array(values.dropFirst()))
  }

  /// An integer that sorts as PostgreSQL sorts the column; events without a value come last.
  static func value(of event: EventRecord, in order: EventOrder) -> Int64 {
    let value: Int64? =
      switch order.column.kind {
      case .text: nil
      case .float8: event.double(order.column).map(ordered)
      case .int4, .int2: event.integer(order.column).map(Int64.init)
      case .timestamp: event.timestamp(order.column)?.microseconds
      case .bool: event.bool(order.column).map { $0 ? 1 : 0 }
      }
    return value.map { order.direction == .descending ? ~$0 : $0 } ?? .max
  }

  /// An integer that sorts as PostgreSQL sorts doubles: the zeros are equal, NaN is the
  /// largest.
  private static func ordered(_ value: Double) -> Int64 {
    let bits = Int64(bitPattern: (value.isNaN ? .nan : value == 0 ? 0 : value).bitPattern)
    // The bits of negative doubles grow with their distance from 0.
    return bits >= 0 ? bits : bits ^ .max
  }
}

/// Which events a list has, and which of their columns.
struct ListSelection {
  private let filter: EventFilter
  private let past: EventQuery.Past
  private let droppedColumns: [EventColumn]

  /// The selection of a query.
  ///
  /// - Parameter columns: The columns that the events of the list have.
  init(_ query: EventQuery, columns: Set<EventColumn>) {
    filter = query.filter
    // A list that names codes has them whatever became of them.
    past = query.filter.codes == nil ? query.past : [.superseded, .withdrawn]
    droppedColumns = EventColumn.allCases.filter { !columns.contains($0) }
  }

  /// The event as the list has it; nil if it is not in the list.
  func selected(_ event: EventRecord) -> EventRecord? {
    guard past.contains(.superseded) || !event.has(.supersededBy),
      past.contains(.withdrawn) || !event.has(.withdrawnAt), filter.accepts(event)
    else { return nil }
    guard !droppedColumns.isEmpty else { return event }
    var event = event
    for column in droppedColumns { event.setNull(column) }
    return event
  }
}

/// The net effect of any number of changes on a list of the events of a selection: the last state of
/// each event that they touch.
struct NetChanges {
  /// The last state of an event.
  enum Outcome {
    case listed(EventRecord)
    case unlisted
  }

  /// Whether all events that are not in `outcomes` are gone.
  private(set) var isCleared = false
  /// By code. An event that is not in the list, before or after, has none.
  private(set) var outcomes: [EventCode: Outcome] = [:]

  /// No change.
  init() {}

  /// The changes that make any list one of exactly these events.
  init(replacingAllWith events: [EventRecord]) {
    isCleared = true
    outcomes.reserveCapacity(events.count)
    for event in events {
      if let code = event.code { outcomes[EventCode(code)] = .listed(event) }
    }
  }

  /// Adds the next change.
  ///
  /// - Parameters:
  ///   - selection: Which events the list has.
  ///   - list: The list as it was before the first change.
  mutating func add(_ change: Change, selection: ListSelection, list: LiveList) {
    guard let code = change.code.map({ EventCode($0) }) else {
      isCleared = true
      outcomes = [:]
      return
    }
    if let event = change.new.flatMap(selection.selected) {
      outcomes[code] = .listed(event)
    } else if !isCleared, list.contains(code) {
      outcomes[code] = .unlisted
    } else {
      outcomes[code] = nil
    }
  }
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

  /// The most of these numbers, all different, that ascend when the others are left out. For `n` numbers it takes
  /// O(n log n).
  func longestAscendingPart() -> [Int] {
    // By length less one, the index of the least number with which a part of that length ends.
    var ends: [Int] = []
    // The index of the number before, in the longest part that ends with a number.
    var previous: [Int?] = []
    for (index, number) in enumerated() {
      let length = ends.partition { self[$0] < number }
      previous.append(length > 0 ? ends[length - 1] : nil)
      if length < ends.count { ends[length] = index } else { ends.append(index) }
    }
    var part: [Int] = []
    var next = ends.last
    while let index = next {
      part.append(self[index])
      next = previous[index]
    }
    return part.reversed()
  }
}
