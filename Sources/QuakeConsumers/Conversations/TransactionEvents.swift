package import Postgres
internal import QuakeHistory
package import QuakeModel

/// The events that a transaction changes, as far as they can matter to conversations, and the events as they are after
/// it.
///
/// The changes of a transaction may come in any order: what it has done is known at its end.
struct TransactionEvents {
  /// Reads events that the transaction has not changed.
  typealias Read = ([EventCode]) throws -> [EventCode: EventRecord]

  /// What a transaction has done to an event so far.
  private struct Entry {
    /// The position of the first change after which the event passed.
    var passed: Int64?
    /// The event after its last change; nil if it was deleted.
    var event: EventRecord?
    /// What superseded the event before.
    let former: EventCode?
  }

  private var entries: [EventCode: Entry] = [:]
  /// The codes in the order of their first changes.
  private(set) var codes: [EventCode] = []
  private(set) var isTruncated = false
  /// Events that the transaction has not changed.
  private var others: [EventCode: EventRecord?] = [:]

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

  func has(_ code: EventCode) -> Bool { entries[code] != nil }

  mutating func take(_ change: Change, of code: EventCode, passes: Bool) {
    if entries[code] == nil {
      codes.append(code)
      entries[code] = Entry(former: change.old?.successor)
    }
    entries[code]?.event = change.new
    if passes, entries[code]?.passed == nil { entries[code]?.passed = change.position }
  }

  /// The position of the change by which an event passed; nil if it does not pass, or has not changed.
  func passed(_ code: EventCode) -> Int64? { entries[code]?.passed }

  /// What superseded an event before the transaction, if the transaction has changed the event.
  func former(_ code: EventCode) -> EventCode? { entries[code]?.former }

  // MARK: - After the transaction

  /// The longest chain of events that supersede one another. Edits by hand can make circles.
  static let longestChain = 100

  /// Reads the events to which the chains of the changed ones lead, those of one step together.
  mutating func readChains(_ read: Read) rethrows {
    var next = Set(
      entries.values.flatMap { [$0.former, $0.event?.successor] }.compactMap { $0 })
    for _ in 0..<Self.longestChain {
      let unknown = next.filter { !isKnown($0) }.sorted()
      guard !unknown.isEmpty else { return }
      let found = try read(unknown)
      next = []
      for code in unknown {
        others[code] = .some(found[code])
        if let successor = found[code]?.successor { next.insert(successor) }
      }
    }
  }

  /// After a truncate there is nothing but what was inserted after it.
  private func isKnown(_ code: EventCode) -> Bool {
    isTruncated || entries[code] != nil || others[code] != nil
  }

  /// The event as it is after the transaction.
  mutating func event(_ code: EventCode, _ read: Read) rethrows -> EventRecord? {
    if let entry = entries[code] { return entry.event }
    guard !isKnown(code) else { return others[code] ?? nil }
    let event = try read([code])[code]
    others[code] = .some(event)
    return event
  }

  /// The code at the end of the chain of events that supersede one another, after the transaction; nil if they are a
  /// circle. The event need not exist.
  mutating func end(of code: EventCode, _ read: Read) rethrows -> EventCode? {
    var next = code
    for _ in 0..<Self.longestChain {
      guard let successor = try event(next, read)?.successor else { return next }
      next = successor
    }
    return nil
  }
}

extension EventRecord {
  var successor: EventCode? { supersededBy.map { EventCode($0) } }
}

/// Events as they were after a transaction, from the history.
package struct RecordedEvents {
  private let connection: Connection

  /// - Parameter connection: Connected to the store, and not used by a reader that has a page under way.
  package init(connection: Connection) {
    self.connection = connection
  }

  /// The events as they were after a transaction that the history covers, without those that did not exist.
  package func events(
    _ codes: [EventCode], after token: ChangeToken
  ) throws -> [EventCode: EventRecord] {
    let rows = try connection.executePrepared(
      """
      select \(sql: EventColumn.list(of: "n"))
        from unnest(\(codes.map(\.text))::text[]) c (code)
       cross join lateral (
        select v.* from quake.quake_version v
          join quake.change_transaction t on t.transaction_id = v.transaction_id
         where v.code = c.code and t.token <= \(token.number)::bigint
         order by v.id desc limit 1
      ) n
       where n.op <> 'delete'
         and not exists (select from quake.quake_version e
                           join quake.change_transaction t on t.transaction_id = e.transaction_id
                          where e.op = 'truncate' and e.id > n.id and t.token <= \(token.number)::bigint)
      """, format: .binary)
    var events: [EventCode: EventRecord] = [:]
    for index in 0..<rows.rowCount {
      let event = try rows.record(index, firstColumn: 0)
      if let code = event.code { events[EventCode(code)] = event }
    }
    return events
  }
}
