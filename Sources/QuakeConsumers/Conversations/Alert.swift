public import QuakeModel

/// A step of the conversation about an earthquake.
public struct Alert: Hashable, Identifiable, Sendable {
  /// What a message tells.
  public typealias Kind = Message.Kind

  /// `opened`, `updated`, `retracted` or `closed`.
  public let kind: Kind
  /// The conversation's id, for its life: token and position of the change by which the earthquake first passed.
  public let conversation: String
  /// The number of the message in its conversation, from 1.
  public let number: Int
  /// The earthquake as the store shows it now; nil if it was deleted.
  public let event: EventRecord?
  /// What was told before; nil in the first message.
  public let told: Told?
  /// The transaction that it tells of.
  public let token: ChangeToken
  /// Its commit time; or when the conversation's time was over.
  public let at: Timestamp
  /// The conversation that goes on with the earthquake, if this one ends because both are about the same.
  public let mergedInto: String?
  /// Whether the message before retracted the earthquake.
  public let isAfterRetraction: Bool
  /// Whether the first message of the conversation was dropped.
  package let isMuted: Bool

  /// What a message told of an earthquake.
  public struct Told: Hashable, Sendable {
    /// The event that the earthquake was shown as.
    public var code: String
    /// Origin time.
    public var time: Timestamp?
    /// Its magnitude.
    public var magnitude: Double?
    /// Kilometres.
    public var depth: Double?
    /// Degrees north.
    public var latitude: Double?
    /// Degrees east.
    public var longitude: Double?
    /// Its place in words.
    public var place: String?
    /// The source of the event that is shown (`quake.source`).
    public var agency: String?

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
    token: ChangeToken, at: Timestamp, mergedInto: String? = nil, isAfterRetraction: Bool = false,
    isMuted: Bool = false
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
    self.isMuted = isMuted
  }

  /// The message's id, the same whenever it is made.
  public var id: String { "\(conversation)-\(number)" }

  /// The id of the message before in the conversation; nil for the first.
  public var supersedes: String? { number > 1 ? "\(conversation)-\(number - 1)" : nil }
}
