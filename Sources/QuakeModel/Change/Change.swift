/// The operation of a change.
public enum ChangeOperation: String, CaseIterable, Codable, Sendable {
  case insert
  /// Other values for an event.
  case update
  case delete
  /// All events removed at once.
  case truncate
}

/// The number of changes of each kind in a transaction.
public struct ChangeCounts: Hashable, Sendable {
  /// Events inserted.
  public var inserted: Int64
  /// Updates that changed something.
  public var updated: Int64
  /// Events deleted.
  public var deleted: Int64
  /// Truncates of the table.
  public var truncated: Int64

  /// Counts of the given numbers.
  public init(
    inserted: Int64 = 0, updated: Int64 = 0, deleted: Int64 = 0, truncated: Int64 = 0
  ) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
    self.truncated = truncated
  }

  /// The sum of all changes, limited to the largest integer.
  public var total: Int64 {
    [inserted, updated, deleted, truncated].reduce(0) { sum, count in
      let (total, overflow) = sum.addingReportingOverflow(count)
      return overflow ? .max : total
    }
  }
}

/// A committed transaction that changed events, with its author, time and position in the history.
public final class ChangeTransaction: Sendable {
  /// The transaction's token.
  public let token: ChangeToken
  /// The author of the change, as the writer stated it (`quake.author`).
  public let author: String?
  /// The purpose of the change, as the writer stated it (`quake.context`).
  public let context: String?
  /// The context of the transactions that associate events of different sources.
  package static let associationContext = "association"
  /// `application_name` of the writing session.
  public let application: String?
  /// The role that had logged in; empty in changes from `quake-serve`, which leaves it out.
  public let user: String
  /// Process id of the server process that wrote; 0 in changes from `quake-serve`.
  public let processID: Int
  /// Address of the client; nil over a Unix socket.
  public let client: String?
  /// When it got its token, just before its commit.
  public let at: Timestamp
  /// The import that made it, if one did (`quake.import.id`).
  public let importID: Int64?
  /// The number of its changes of each kind.
  public let counts: ChangeCounts

  /// The token of the transaction before it in commit order. Its number alone, if the transaction's isolation level
  /// hid the nonce from it; nil if it is not known.
  package let predecessor: String?

  /// The number of its changes.
  public var changeCount: Int64 { counts.total }

  /// A transaction of the given parts.
  public convenience init(
    token: ChangeToken, author: String?, context: String?, application: String?, user: String,
    processID: Int, client: String?, at: Timestamp, importID: Int64?, counts: ChangeCounts
  ) {
    self.init(
      token: token, author: author, context: context, application: application, user: user,
      processID: processID, client: client, at: at, importID: importID, counts: counts,
      predecessor: nil)
  }

  /// A transaction of the given parts, with the one before it.
  package init(
    token: ChangeToken, author: String?, context: String?, application: String?, user: String,
    processID: Int, client: String?, at: Timestamp, importID: Int64?, counts: ChangeCounts,
    predecessor: String?
  ) {
    self.token = token
    self.author = author
    self.context = context
    self.application = application
    self.user = user
    self.processID = processID
    self.client = client
    self.at = at
    self.importID = importID
    self.counts = counts
    self.predecessor = predecessor
  }
}

extension ChangeTransaction: Hashable {
  /// Whether both are the same transaction.
  public static func == (left: ChangeTransaction, right: ChangeTransaction) -> Bool {
    left.token == right.token
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(token) }
}

/// One change of one event, as it was committed.
public struct Change: Hashable, Sendable, Identifiable {
  /// The transaction it belongs to.
  public let transaction: ChangeTransaction
  /// Which of the transaction's changes it is, from 0.
  public let position: Int64
  /// The operation.
  public let op: ChangeOperation
  /// The event's code; nil for a truncate.
  public let code: String?
  /// Names of the columns that an update changed; empty otherwise.
  public let changed: [String]
  /// The event before the change; nil for an insert and a truncate.
  public let old: EventRecord?
  /// The event after the change; nil for a delete and a truncate.
  public let new: EventRecord?

  /// The cursor just after the change, which no other change has.
  public var id: HistoryCursor { cursor }

  /// The cursor just after this change. A program that stores it together with its own result of the
  /// change can resume from there.
  public var cursor: HistoryCursor {
    let done = position + 1
    return HistoryCursor(
      token: transaction.token, changes: done == transaction.changeCount ? 0 : done)
  }

  /// Whether it only changes which event is shown for an earthquake that several sources have. That says
  /// nothing about the earthquake.
  var isAssociation: Bool {
    op == .update && changed == [EventColumn.supersededBy.name]
      && transaction.context == ChangeTransaction.associationContext
  }

  /// A change of the given parts.
  public init(
    transaction: ChangeTransaction, position: Int64, op: ChangeOperation, code: String?,
    changed: [String], old: EventRecord?, new: EventRecord?
  ) {
    self.transaction = transaction
    self.position = position
    self.op = op
    self.code = code
    self.changed = changed
    self.old = old
    self.new = new
  }
}

/// A version of one event: the event as it was after a change.
public struct EventVersion: Hashable, Sendable {
  /// The transaction that made it.
  public let transaction: ChangeTransaction
  /// Its position in the transaction, from 0; nil if other changes of the transaction have been purged.
  public let position: Int64?
  /// The operation.
  public let op: ChangeOperation
  /// The event's code.
  public let code: String
  /// Names of the columns that an update changed; empty otherwise.
  public let changed: [String]
  /// The event before the change; nil if it did not exist, or its earlier version has been purged.
  public let old: EventRecord?
  /// The event after the change; nil if it was deleted.
  public let new: EventRecord?

  /// A version of the given parts.
  public init(
    transaction: ChangeTransaction, position: Int64?, op: ChangeOperation, code: String,
    changed: [String], old: EventRecord?, new: EventRecord?
  ) {
    self.transaction = transaction
    self.position = position
    self.op = op
    self.code = code
    self.changed = changed
    self.old = old
    self.new = new
  }
}

/// The net change of an event between two states of the store.
public struct EventDifference: Hashable, Sendable {
  /// Insert, update or delete.
  public let op: ChangeOperation
  /// The event's code.
  public let code: String
  /// Names of the columns in which the two states differ; empty unless it is an update.
  public let changed: [String]
  /// The event in the earlier state; nil for an insert.
  public let old: EventRecord?
  /// The event in the later state; nil for a delete.
  public let new: EventRecord?

  /// A difference of the given parts.
  public init(
    op: ChangeOperation, code: String, changed: [String], old: EventRecord?, new: EventRecord?
  ) {
    self.op = op
    self.code = code
    self.changed = changed
    self.old = old
    self.new = new
  }
}
