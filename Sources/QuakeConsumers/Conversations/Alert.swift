package import QuakeModel

/// A step of the conversation about an earthquake.
package struct Alert: Sendable {
  /// `opened`, `updated`, `retracted` or `closed`.
  package let kind: Message.Kind
  /// The conversation's id, for its life: token and position of the change by which the earthquake first passed.
  package let conversation: String
  /// The number of the message in its conversation, from 1.
  package let number: Int
  /// The earthquake as the store shows it now; nil if it was deleted.
  package let event: EventRecord?
  /// What was told before; nil in the first message.
  package let told: Told?
  /// The transaction that it tells of.
  package let token: ChangeToken
  /// Its commit time.
  package let at: Timestamp

  /// What a message told of an earthquake.
  package struct Told: Hashable, Sendable {
    package var code: String
    package var time: Timestamp?
    package var magnitude: Double?
    package var depth: Double?
    package var latitude: Double?
    package var longitude: Double?
    package var place: String?
    /// The source of the event that is shown (`quake.source`).
    package var agency: String?

    package init(code: String) { self.code = code }
  }

  package init(
    kind: Message.Kind, conversation: String, number: Int, event: EventRecord?, told: Told?,
    token: ChangeToken, at: Timestamp
  ) {
    self.kind = kind
    self.conversation = conversation
    self.number = number
    self.event = event
    self.told = told
    self.token = token
    self.at = at
  }
}
