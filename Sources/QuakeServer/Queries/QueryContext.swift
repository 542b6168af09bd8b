import Basics
import Postgres
import QuakeModel

/// The context of a handler that queries the database.
struct QueryContext {
  /// A connection outside of a transaction. Statements have a time limit.
  let connection: Connection
  /// The newest token of the store, read after the request arrived.
  let token: ChangeToken
  /// When the token was asked for: an answer has all that was committed before.
  var begun = MonotonicClock.now()
}
