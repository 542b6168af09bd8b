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

  /// Token and position of the change by which the earthquake first passed: its id for life.
  package let id: String
  /// The event that the earthquake is shown as.
  package var code: String
  /// The events that are or were the earthquake, `code` among them. None if it is a part of another conversation now.
  package var codes: Set<String>
  package var state: State
  /// The number of messages so far.
  package var messages: Int
  /// Commit time of the change by which it first passed.
  package let passedAt: Timestamp
  /// Commit time of what was told last; nil: nothing yet.
  package var toldAt: Timestamp?
  /// When its time is over: a waiting one is then told, another one is closed. nil: it is closed.
  package var dueAt: Timestamp?
  /// What was told last; nil: nothing yet.
  package var told: Alert.Told?

  package init(
    id: String, code: String, codes: Set<String>, state: State, messages: Int = 0,
    passedAt: Timestamp, toldAt: Timestamp? = nil, dueAt: Timestamp?, told: Alert.Told? = nil
  ) {
    self.id = id
    self.code = code
    self.codes = codes
    self.state = state
    self.messages = messages
    self.passedAt = passedAt
    self.toldAt = toldAt
    self.dueAt = dueAt
    self.told = told
  }

  /// Its place in the history, by which the older of two conversations is known.
  var age: (transaction: Int64, position: Int64) {
    let parts = id.split(separator: "-")
    let token = parts.first.flatMap { ChangeToken(String($0)) }
    return (token?.number ?? .max, parts.last.flatMap { Int64($0) } ?? .max)
  }
}

/// Where a `ConversationBook` reads what it does not keep in memory.
package protocol ConversationSource {
  /// The event as it was after a transaction; nil if there was none.
  func event(_ code: String, after token: ChangeToken) throws -> EventRecord?
  /// The closed conversation of the consumer in which an event is or was the earthquake; nil if there is none.
  func closedConversation(of code: String) throws -> Conversation?
}
