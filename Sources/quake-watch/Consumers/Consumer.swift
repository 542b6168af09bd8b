import Basics
import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel

/// A consumer on the main thread: how far it has read, and what it makes of the changes.
final class Consumer {
  enum Place {
    /// With the newest changes.
    case current
    /// From a reader of its own, because it is behind.
    case behind
    /// It owes too much, and reads no further.
    case full
    /// Its cursor is not in this history, or its receiver is gone.
    case stopped
    /// Another process has it, or somebody has rewound or removed it: the next notice says what.
    case lost
  }

  private(set) var configuration: ConsumerConfiguration
  /// Its number on the sender's thread.
  let key: ConsumerKey
  var place = Place.behind
  /// The group with which it reads while it is behind.
  var group = 0
  /// Up to where it has taken the changes.
  private(set) var seen: HistoryCursor
  /// Up to where they have become messages: an earthquake is decided at the end of a transaction.
  var cursor: HistoryCursor { book?.cursor ?? seen }
  var changedAt: Timestamp
  /// What it owes, without what is parked.
  var owed = 0
  var gate: MessageGate
  private var book: ConversationBook?
  /// Whether a failure was reported, and no success since.
  var isReported = false
  /// Until when no other failure is reported: a receiver may fail often.
  private var quiet = Deadline(after: .zero)

  var name: String { configuration.name }

  init(_ configuration: ConsumerConfiguration, key: ConsumerKey, state: ConsumerStore.State) {
    self.configuration = configuration
    self.key = key
    seen = state.cursor
    changedAt = state.changedAt
    gate = MessageGate(configuration.rate, total: state.heldBack)
  }

  /// Takes another configuration. It counts from the next `restart` on.
  func change(to configuration: ConsumerConfiguration) {
    if configuration.rate != self.configuration.rate {
      gate = MessageGate(configuration.rate, total: gate.total)
    }
    self.configuration = configuration
  }

  /// Begins anew where the database says, with the conversations that are there.
  func restart(_ state: ConsumerStore.State, book: ConversationBook?) {
    gate.restart(total: state.heldBack)
    self.book = book
    seen = state.cursor
    changedAt = state.changedAt
    place = .behind
    group = 0
  }

  /// Whether it is to read no further.
  var isFull: Bool { owed >= configuration.backlog }
  /// Whether it may read on after it was full: not after each message, because that costs a query.
  var hasRoom: Bool { owed <= configuration.backlog * 3 / 4 }

  /// Whether a failure is to be reported now.
  func reportsFailure() -> Bool {
    guard !isReported, quiet.hasPassed else { return false }
    isReported = true
    quiet = Deadline(after: .seconds(60))
    return true
  }

  // MARK: - Changes

  /// Takes a change, if it has not seen it.
  func take(_ change: Change, into page: PageBuilder) throws {
    guard seen.isBefore(change) else { return }
    if book != nil {
      tell(try book?.alerts(after: change) ?? [], into: page)
    } else if configuration.filter.accepts(change) {
      if gate.admits(change) {
        page.owe(change, self, heldBack: gate.takeHeldBack())
      } else {
        page.note(self)
      }
    }
  }

  /// When something becomes due; nil: nothing does.
  var nextDue: Timestamp? { book?.nextDue }

  /// Takes note that all changes up to there have been taken, and adds the conversations that have changed to the page.
  ///
  /// - Parameter time: Everything that was committed by then has been taken; nil: that is not known.
  func end(at cursor: HistoryCursor, completeUpTo time: Timestamp?, _ page: PageBuilder) throws {
    if !cursor.isBefore(seen) { seen = cursor }
    if let time { tell(try book?.advance(to: time) ?? [], into: page) }
    if let unstored = book?.takeUnstored() { page.store(unstored, of: self) }
  }

  private func tell(_ alerts: [Alert], into page: PageBuilder) {
    for alert in alerts { page.owe(alert, self, heldBack: gate.takeHeldBack()) }
  }
}

/// Lets as many messages of a consumer pass as its limit allows, and counts the others.
///
/// A conversation is told as a whole: if its first message is dropped, so are the others. What was told is always
/// corrected.
struct MessageGate {
  private var limiter: RateLimiter?
  /// How many messages were held back in all.
  private(set) var total: Int64

  init(_ limit: RateLimit?, total: Int64) {
    limiter = limit.map { RateLimiter($0) }
    self.total = total
  }

  /// Begins anew with what is in the database.
  mutating func restart(total: Int64) { self.total = total }

  mutating func admits(_ change: Change) -> Bool {
    guard limiter?.admits() != false else {
      total += 1
      return false
    }
    return true
  }

  mutating func admits(_ alert: Alert) -> Bool {
    if alert.isMuted {
      limiter?.hold()
    } else if alert.kind != .opened || limiter?.admits() != false {
      return true
    }
    total += 1
    return false
  }

  /// How many were held back since the last call.
  mutating func takeHeldBack() -> Int { limiter?.takeHeldBack() ?? 0 }
}
