import Basics
import CommandLine
import EmbeddedPostgres
import Postgres
import QuakeHistory
import QuakeTool

/// Keeps a connection to the database for as long as the program needs one: connects, and again after each loss.
final class DatabaseSession {
  private let database: DatabaseAccess
  private let diagnostics: Diagnostics
  private var connection: Connection?
  /// Whether the owner follows over this connection. A loss is then reported.
  var isFollowing = false
  private var answerTimeout = AnswerTimeout()
  /// Whether a connection was lost, and the next one has not been reported yet.
  private var isReconnecting = false

  init(_ database: DatabaseAccess, _ diagnostics: Diagnostics) {
    self.database = database
    self.diagnostics = diagnostics
  }

  /// Calls `body` with a connection to the store, and again with another one after each loss, until it returns or the
  /// program is stopped.
  ///
  /// - Parameters:
  ///   - follows: Whether the program runs until it is stopped.
  ///   - mayRetry: Whether a lost connection is worth waiting for.
  ///   - onLoss: Forgets the connection.
  func run(
    follows: Bool, mayRetry: () -> Bool, onLoss: () -> Void,
    _ body: (Connection) throws -> Void
  ) throws {
    // Fail at once on a wrong address. A connection that could be made once is worth waiting for.
    connection = try database.connect(wake: Signals.wakeDescriptor)
    var backoff = Backoff()
    while true {
      do {
        if let connection {
          connection.answerTimeout = answerTimeout.duration
          try database.checkSchema(of: connection)
          return try body(connection)
        }
        connection = try database.reconnect(wake: Signals.wakeDescriptor)
      } catch let error as PostgresError where error.kind == .interrupted {
        if Signals.stopRequested { return }
        Signals.drainWake()
      } catch let error where Self.isLoss(error) {
        guard mayRetry() else { throw error }
        if (error as? PostgresError)?.kind == .timeout { answerTimeout.extend() }
        let problem = Failure(error)?.message ?? "\(error)"
        if isFollowing || connection != nil && !follows {
          diagnostics.warning(problem, hint: "Trying again until the connection is restored.")
          backoff.reset()
        } else {
          diagnostics.verbose("still no connection: \(problem)")
        }
        (connection, isFollowing) = (nil, false)
        onLoss()
        isReconnecting = true
        _ = Signals.wait(timeout: backoff.next())
        if Signals.stopRequested { return }
      }
    }
  }

  /// The server has answered: the next answer may take the shortest time only.
  func hasAnswered(over connection: Connection) {
    answerTimeout.reset()
    connection.answerTimeout = answerTimeout.duration
  }

  /// Whether the connection takes the place of a lost one; once.
  func takeReconnected() -> Bool {
    defer { isReconnecting = false }
    return isReconnecting
  }

  private static func isLoss(_ error: any Error) -> Bool {
    if let error = error as? PostgresError { return error.isTransient }
    if let error = error as? EmbeddedServerError { return error.kind != .configuration }
    return false
  }
}
