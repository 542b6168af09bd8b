internal import QuakeModel

/// The events that a transaction changes, as far as they can matter to conversations, and the events as they are after
/// it.
///
/// The changes of a transaction may come in any order: what it has done is known at its end.
struct TransactionEvents {
  /// What a transaction has done to an event so far.
  private struct Entry {
    /// The position of its first change.
    let position: Int64
    /// The position of the first change after which the event passed.
    var passed: Int64?
    /// The event after its last change; nil if it was deleted.
    var event: EventRecord?
    /// What superseded the event before.
    let former: String?
  }

  private var entries: [String: Entry] = [:]
  /// The codes in the order of their first changes.
  private(set) var codes: [String] = []
  private(set) var isTruncated = false
  /// Events that the transaction has not changed.
  private var others: [String: EventRecord?] = [:]

  var isEmpty: Bool { codes.isEmpty && !isTruncated }

  /// Removes everything, for the next transaction.
  mutating func removeAll() {
    entries.removeAll(keepingCapacity: entries.count < 1000)
    codes.removeAll(keepingCapacity: codes.count < 1000)
    others.removeAll(keepingCapacity: others.count < 1000)
    isTruncated = false
  }

  // MARK: - Taking

  /// All events are gone.
  mutating func truncate() {
    removeAll()
    isTruncated = true
  }

  func has(_ code: String) -> Bool { entries[code] != nil }

  mutating func take(_ change: Change, of code: String, passes: Bool) {
    let position = change.position
    if entries[code] == nil {
      codes.append(code)
      entries[code] = Entry(position: position, former: change.old?.supersededBy)
    }
    entries[code]?.event = change.new
    if passes, entries[code]?.passed == nil { entries[code]?.passed = position }
  }

  /// The position of the change by which an event passed; nil if it does not pass, or has not changed.
  func passed(_ code: String) -> Int64? { entries[code]?.passed }

  /// What superseded an event before the transaction, if the transaction has changed the event.
  func former(_ code: String) -> String? { entries[code]?.former }

  // MARK: - After the transaction

  /// The longest chain of events that supersede one another. Edits by hand can make circles.
  static let longestChain = 100

  /// The event as it is after the transaction.
  mutating func event(
    _ code: String, _ read: (String) throws -> EventRecord?
  ) rethrows -> EventRecord? {
    if let entry = entries[code] { return entry.event }
    if let known = others[code] { return known }
    let event = try read(code)
    others[code] = .some(event)
    return event
  }

  /// The code at the end of the chain of events that supersede one another, after the transaction; nil if they are a
  /// circle. The event need not exist.
  mutating func end(
    of code: String, _ read: (String) throws -> EventRecord?
  ) rethrows -> String? {
    var next = code
    for _ in 0..<Self.longestChain {
      guard let successor = try event(next, read)?.supersededBy else { return next }
      next = successor
    }
    return nil
  }
}
