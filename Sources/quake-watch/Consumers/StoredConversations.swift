import Postgres
import QuakeConsumers
import QuakeModel

/// Where a consumer's conversations find what they do not keep in memory.
final class StoredConversations: ConversationSource {
  private let consumer: String
  private let store: ConsumerStore
  private let connection: Connection
  /// The closed conversations of the events of a page, or of the pages of a transaction, which are read together; nil:
  /// there is none.
  private var closed: [String: Conversation?] = [:]
  /// How many it keeps at most.
  private static let mostKept = 20_000

  init(of consumer: String, _ store: ConsumerStore, _ connection: Connection) {
    self.consumer = consumer
    self.store = store
    self.connection = connection
  }

  func event(_ code: String, after token: ChangeToken) throws -> EventRecord? {
    try RecordedEvents(connection: connection).event(code, after: token)
  }

  /// Reads what the changes of a page may ask for.
  func prepare(for changes: [Change]) throws {
    guard changes.count > 1 || !closed.isEmpty else { return }
    if closed.count > Self.mostKept { closed = [:] }
    var codes: Set<String> = []
    for change in changes {
      if let code = change.code { codes.insert(code) }
      for event in [change.old, change.new] {
        if let other = event?.supersededBy { codes.insert(other) }
        codes.formUnion(event?.ids ?? [])
      }
    }
    codes.subtract(closed.keys)
    for code in codes { closed[code] = .some(nil) }
    let found = try store.closedConversations(
      of: consumer, about: codes.sorted(), over: connection)
    for conversation in found {
      for code in conversation.codes { closed[code] = conversation }
    }
  }

  /// Forgets the pages: what they have changed is stored.
  func forget() { closed = [:] }

  func closedConversation(of code: String) throws -> Conversation? {
    if let known = closed[code] { return known }
    return try store.closedConversation(of: consumer, about: code, over: connection)
  }
}
