public import QuakeModel

/// A batch edit of events.
///
/// ```swift
/// var weak = EventFilter()
/// weak.minimumMagnitude = 5
/// let edit = EventEdit(.delete, of: EventSelection(weak), by: EditAuthor(program: "cleaner", author: "ann"))
/// let outcome = try await database.apply(edit)
/// ```
public struct EventEdit: Hashable, Sendable {
  /// The action.
  public var action: EditAction
  /// The events that it changes.
  public var selection: EventSelection
  /// The author.
  public var author: EditAuthor
  /// A text that identifies the edit, such as its command line. An edit that was interrupted is continued by
  /// the next one with the same action, text and author. Nil: it never is.
  public var title: String?

  /// An edit.
  public init(
    _ action: EditAction, of selection: EventSelection, by author: EditAuthor, title: String? = nil
  ) {
    self.action = action
    self.selection = selection
    self.author = author
    self.title = title
  }
}

/// The action of a batch edit on each of its events.
public enum EditAction: Hashable, Sendable {
  /// Marks them as checked by a person.
  case validate
  /// Removes that mark.
  case unvalidate
  /// Sets columns. A feed overwrites them with its next snapshot, except Quake's own state.
  case set([EventAssignment])
  /// Deletes them, and the rows that they superseded. Imports do not store them again until they are
  /// restored.
  case delete
  /// Deletes those whose origin time is older, whether superseded or withdrawn or not. An import stores one
  /// again only if its feed gives it a later origin time, so that it is no longer that old; if `forever`, not
  /// even then.
  case expire(olderThan: Duration, forever: Bool)

  /// Its name, as in `quake.edit`.
  package var name: String {
    switch self {
    case .validate: "validate"
    case .unvalidate: "unvalidate"
    case .set: "set"
    case .delete: "delete"
    case .expire: "expire"
    }
  }

  var deletes: Bool {
    switch self {
    case .delete, .expire: true
    case .validate, .unvalidate, .set: false
    }
  }
}

/// Which events a batch edit is about. By default those that represent an earthquake now.
public struct EventSelection: Hashable, Sendable {
  /// The conditions on events that an event must meet; its conditions on changes do not count.
  public var filter = EventFilter()
  /// Whether superseded events are selected. Those that the filter names by their code always are.
  public var includesSuperseded = false
  /// Whether withdrawn events are selected. Those that the filter names by their code always are.
  public var includesWithdrawn = false
  /// The most events, those with the earliest origin times first; nil: all.
  public var limit: Int64?

  /// All events that represent an earthquake now.
  public init() {}

  /// The events that meet the conditions of a filter.
  public init(_ filter: EventFilter) {
    self.filter = filter
  }
}

/// Codes of events in one buffer: a million of them take some ten megabytes.
struct CodeList {
  private var bytes: [UInt8] = []
  private var position = 0
  private(set) var count: Int64 = 0
  /// The number of codes that `next` has not returned.
  private(set) var left: Int64 = 0

  mutating func append(_ code: String) {
    append(contentsOf: code.utf8)
  }

  mutating func append(contentsOf code: some Collection<UInt8>) {
    // The table limits codes to 256 characters.
    precondition(code.count <= Int(UInt16.max))
    bytes.append(UInt8(code.count >> 8))
    bytes.append(UInt8(code.count & 0xFF))
    bytes.append(contentsOf: code)
    count += 1
    left += 1
  }

  /// The next codes, at most that many; empty at the end.
  mutating func next(_ most: Int) -> [String] {
    var codes: [String] = []
    while codes.count < most, position < bytes.count {
      let length = Int(bytes[position]) << 8 | Int(bytes[position + 1])
      position += 2
      codes.append(String(decoding: bytes[position..<position + length], as: UTF8.self))
      position += length
    }
    left -= Int64(codes.count)
    return codes
  }
}

/// The author of an edit and the reason for it, for the history and for `quake.edit`.
public struct EditAuthor: Hashable, Sendable {
  /// Name and version of the program.
  public var program: String
  /// Author of the changes.
  public var author: String
  /// Context of the changes; nil: the edit's number and action.
  public var context: String?

  /// An author.
  public init(program: String, author: String, context: String? = nil) {
    self.program = program
    self.author = author
    self.context = context
  }
}

/// The effects that a batch edit would have.
public struct EditPlan: Hashable, Sendable {
  /// The number of events that it would change.
  public let count: Int64
  /// The first of them, as they are now.
  public let sample: [EventRecord]
}

/// The outcome of a batch edit.
public struct EditOutcome: Hashable, Sendable {
  /// The number of the edit (`quake.edit`); nil: there was nothing to do.
  public internal(set) var edit: Int64?
  /// The events that it was to change.
  public internal(set) var selected: Int64 = 0
  /// The events that this run has changed, with superseded rows that were deleted together with theirs.
  public internal(set) var changed: Int64 = 0
  /// The events that an earlier, interrupted run of the edit had changed.
  public internal(set) var changedBefore: Int64 = 0
  /// Whether all of them are done.
  public internal(set) var isFinished = false
  /// The number of the edit's transactions.
  public internal(set) var transactions: Int64 = 0
  /// The edit's first and last transaction; nil: none.
  public internal(set) var first, last: ChangeToken?
  /// Events that were not restored, because they were changed since.
  public internal(set) var conflicts: [RestorePlan.Conflict] = []
  /// The number of these events.
  public internal(set) var conflictCount: Int64 = 0
  /// Deleted events that cannot be restored, because the history of their deletion was purged, with those
  /// whose tombstones were removed instead.
  package internal(set) var lost: Int64 = 0
  /// Events that cannot be restored and whose tombstones were removed, so that feeds may store them again.
  package internal(set) var tombstonesRemoved: Int64 = 0

  package init() {}

  package static var nothingToDo: EditOutcome {
    var outcome = EditOutcome()
    outcome.isFinished = true
    return outcome
  }
}

extension JSONWriter {
  /// Writes what a batch edit would do.
  package mutating func plan(_ plan: EditPlan, of action: EditAction) {
    object { json in
      json.member("action", action.name)
      json.member("dry_run", true)
      json.member("count", plan.count)
      json.array("sample") { json in
        for event in plan.sample { json.quake(event) }
      }
    }
  }

  /// Writes what a restore would do.
  package mutating func plan(_ plan: RestorePlan) {
    object { json in
      json.member("action", "restore")
      json.member("dry_run", true)
      json.member("count", plan.count)
      json.member("inserted", plan.inserted)
      json.member("updated", plan.updated)
      json.member("deleted", plan.deleted)
      json.member("unchanged", plan.unchanged)
      json.member("lost", plan.lost)
      json.conflicts(plan.conflicts, plan.conflictCount)
      json.member("sample", plan.sample)
    }
  }

  /// Writes what a batch edit or a restore has done.
  ///
  /// - Parameter action: The name of the action.
  package mutating func outcome(_ outcome: EditOutcome, of action: String) {
    object { json in
      json.member("action", action)
      json.member("dry_run", false)
      json.member("edit", outcome.edit)
      json.member("selected", outcome.selected)
      json.member("changed", outcome.changed)
      json.member("changed_before", outcome.changedBefore)
      json.member("finished", outcome.isFinished)
      json.member("lost", outcome.lost)
      json.member("tombstones_removed", outcome.tombstonesRemoved)
      json.member("transactions", outcome.transactions)
      json.member("first_transaction", outcome.first.map { "\($0)" })
      json.member("last_transaction", outcome.last.map { "\($0)" })
      json.conflicts(outcome.conflicts, outcome.conflictCount)
    }
  }

  private mutating func conflicts(_ conflicts: [RestorePlan.Conflict], _ count: Int64) {
    member("conflict_count", count)
    array("conflicts") { json in
      for conflict in conflicts {
        json.object { json in
          json.member("code", conflict.code)
          json.member("op", conflict.operation?.rawValue)
          json.member("transaction", conflict.transaction.map { "\($0)" })
          json.member("author", conflict.author)
        }
      }
    }
  }
}
