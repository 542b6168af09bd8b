import QuakeModel
import Synchronization

/// The newest token of the store, as the streams have read it last: known without asking the database.
final class NewestToken: Sendable {
  private let token = Mutex<ChangeToken?>(nil)

  /// The token; nil until the streams have connected to the database.
  var value: ChangeToken? { token.withLock { $0 } }

  /// Sets the token.
  func update(_ newest: ChangeToken) { token.withLock { $0 = newest } }
}
