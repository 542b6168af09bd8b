/// What was done to an event.
public enum ChangeOperation: String, CaseIterable, Sendable {
  /// A new event.
  case insert
  /// Other values for an event.
  case update
  /// An event taken away.
  case delete
  /// All events taken away at once.
  case truncate
}

/// How many changes of each kind a transaction holds.
public struct ChangeCounts: Hashable, Sendable {
  /// Events inserted.
  public var inserted: Int64
  /// Updates that changed something.
  public var updated: Int64
  /// Events deleted.
  public var deleted: Int64
  /// Times that all events were taken away at once.
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

  /// All changes together; the largest number there is where they are more.
  public var total: Int64 {
    [inserted, updated, deleted, truncated].reduce(0) { sum, count in
      let (total, overflow) = sum.addingReportingOverflow(count)
      return overflow ? .max : total
    }
  }
}

/// A committed transaction that changed events: who, when, in what order.
public final class ChangeTransaction: Sendable {
  /// The transaction's place in the history.
  public let token: ChangeToken
  /// Who made the change, as the writer said it (`quake.author`).
  public let author: String?
  /// What for, as the writer said it (`quake.context`).
  public let context: String?
  /// `application_name` of the writing session.
  public let application: String?
  /// The role that had logged in.
  public let user: String
  /// Process id of the server process that wrote.
  public let processID: Int
  /// Address of the client; nil over a Unix socket.
  public let client: String?
  /// When it was numbered, just before its commit.
  public let at: Timestamp
  /// The import that made it, if one did (`quake.import.id`).
  public let importID: Int64?
  /// How many changes it holds, by what was done.
  public let counts: ChangeCounts

  /// How many changes it holds.
  public var changeCount: Int64 { counts.total }

  /// A transaction of the given parts.
  public init(
    token: ChangeToken, author: String?, context: String?, application: String?, user: String,
    processID: Int, client: String?, at: Timestamp, importID: Int64?, counts: ChangeCounts
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
  }
}

/// One change of one event, as it was committed.
public struct Change: Sendable {
  /// The transaction it belongs to.
  public let transaction: ChangeTransaction
  /// Which of the transaction's changes it is, from 0.
  public let position: Int64
  /// What was done.
  public let op: ChangeOperation
  /// The event's code; nil for a truncate.
  public let code: String?
  /// Names of the columns that an update changed; empty otherwise.
  public let changed: [String]
  /// The event before the change; nil for an insert and a truncate.
  public let old: QuakeRecord?
  /// The event after the change; nil for a delete and a truncate.
  public let new: QuakeRecord?

  /// A change of the given parts.
  public init(
    transaction: ChangeTransaction, position: Int64, op: ChangeOperation, code: String?,
    changed: [String], old: QuakeRecord?, new: QuakeRecord?
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
