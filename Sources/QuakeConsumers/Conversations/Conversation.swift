package import QuakeModel

/// What a consumer has told of an earthquake: a row of `quake.conversation`, with its events.
package struct Conversation: Hashable, Sendable {
  package enum State: String, CaseIterable, Sendable {
    /// Not told yet: it waits for an association.
    case waiting
    /// Told.
    case open
    /// Taken back. It may be told again.
    case retracted
    /// Nothing more is told.
    case closed
  }

  /// Its place in the history, by which the older of two conversations is known.
  struct Age: Hashable, Comparable, Sendable {
    let transaction: Int64
    let position: Int64

    static func < (a: Age, b: Age) -> Bool {
      (a.transaction, a.position) < (b.transaction, b.position)
    }
  }

  /// Token and position of the change by which the earthquake first passed: its id for life.
  package let id: String
  let age: Age
  /// The event that the earthquake is shown as.
  package var code: EventCode
  /// The events that are or were the earthquake, `code` among them. None if it is a part of another conversation now,
  /// or if it was never told.
  package var codes: Set<EventCode>
  package var state: State
  /// The number of messages so far, with those that were dropped.
  package var messages: Int
  /// Whether the limit of a rate has dropped its first message: nothing is told of it.
  package var isMuted: Bool
  /// Commit time of the change by which it first passed.
  package let passedAt: Timestamp
  /// Commit time of what was told last; nil: nothing yet.
  package var toldAt: Timestamp?
  /// When its time is over: a waiting one is then told, one that was told is closed, and a closed one is deleted.
  package var dueAt: Timestamp
  /// What was told last; nil: nothing yet.
  package var told: Alert.Told?

  /// How long a closed conversation is kept, by which an earthquake that comes again is known.
  static let keptAfterClosing = Duration.seconds(365 * 86_400)

  package init(
    id: String, code: EventCode, codes: Set<EventCode>, state: State, messages: Int = 0,
    isMuted: Bool = false, passedAt: Timestamp, toldAt: Timestamp? = nil, dueAt: Timestamp,
    told: Alert.Told? = nil
  ) {
    self.id = id
    let parts = id.split(separator: "-")
    let token = parts.first.flatMap { ChangeToken(String($0)) }
    age = Age(
      transaction: token?.number ?? .max, position: parts.last.flatMap { Int64($0) } ?? .max)
    self.code = code
    self.codes = codes
    self.state = state
    self.messages = messages
    self.isMuted = isMuted
    self.passedAt = passedAt
    self.toldAt = toldAt
    self.dueAt = dueAt
    self.told = told
  }

  /// Whether the receiver knows of it.
  var isTold: Bool { messages > 0 && !isMuted }
}

/// A conversation as it was before the changes of a transaction, and before what became due between that and the next
/// one.
package struct PastConversation: Hashable, Sendable {
  package let token: ChangeToken
  package let conversation: Conversation

  package init(token: ChangeToken, conversation: Conversation) {
    self.token = token
    self.conversation = conversation
  }
}

/// Where a `ConversationBook` reads what it does not keep in memory.
package protocol ConversationSource {
  /// The events as they were after a transaction, without those that did not exist.
  func events(_ codes: [EventCode], after token: ChangeToken) throws -> [EventCode: EventRecord]
  /// The closed conversations of the consumer in which events are or were the earthquake.
  func closedConversations(of codes: [EventCode]) throws -> [Conversation]
}
