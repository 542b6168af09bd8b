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
  /// Its commit time; or when the conversation's time was over.
  package let at: Timestamp
  /// The conversation that goes on with the earthquake, if this one ends because both are about the same.
  package let mergedInto: String?
  /// Whether the message before retracted the earthquake.
  package let isAfterRetraction: Bool

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

    /// What a message about an event tells.
    package init(_ event: EventRecord) {
      code = event.code ?? ""
      time = event.time
      magnitude = event.magnitude
      depth = event.depth
      latitude = event.latitude
      longitude = event.longitude
      place = event.place
      agency = event.source
    }
  }

  package init(
    kind: Message.Kind, conversation: String, number: Int, event: EventRecord?, told: Told?,
    token: ChangeToken, at: Timestamp, mergedInto: String? = nil, isAfterRetraction: Bool = false
  ) {
    self.kind = kind
    self.conversation = conversation
    self.number = number
    self.event = event
    self.told = told
    self.token = token
    self.at = at
    self.mergedInto = mergedInto
    self.isAfterRetraction = isAfterRetraction
  }

  /// The message's id, the same whenever it is made.
  package var id: String { "\(conversation)-\(number)" }

  /// The id of the message before in the conversation; nil for the first.
  package var supersedes: String? { number > 1 ? "\(conversation)-\(number - 1)" : nil }
}
