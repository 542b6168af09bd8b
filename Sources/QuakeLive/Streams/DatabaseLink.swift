internal import Postgres
internal import QuakeHistory
internal import QuakeModel
internal import QuakeSchema
internal import SystemClock

/// A thread's connection to a database, which is made again when it is lost.
final class DatabaseLink {
  /// A descriptor that becomes readable when the thread is to end.
  let wake: Int32
  private let settings: ConnectionSettings
  private var connection: Connection?
  private var session = SessionKind.direct
  private var hasBeenConnected = false
  private var answerTimeout = shortestAnswerTimeout
  private var backoff = Backoff()

  /// How long a server may be silent while it owes an answer. It is doubled when that was too little
  /// for a server that is there and slow.
  private static let shortestAnswerTimeout = Duration.seconds(8)
  private static let longestAnswerTimeout = Duration.seconds(64)

  /// A link that connects when it is first needed.
  init(_ settings: ConnectionSettings, wake: Int32) {
    self.settings = settings
    self.wake = wake
  }

  /// Does something over a connection, and again over a new one if it is lost meanwhile, until it has
  /// been done. Only the first connection must succeed.
  ///
  /// - Parameters:
  ///   - prepare: Is called with each new connection first.
  ///   - lose: Is called when a connection has been lost.
  func perform<Value>(
    prepare: (Connection) throws -> Void, lose: () -> Void,
    _ body: (Connection, SessionKind) throws -> Value
  ) throws -> Value {
    while true {
      do {
        let connection = try connected(prepare)
        let value = try body(connection, session)
        answerTimeout = Self.shortestAnswerTimeout
        backoff.reset()
        return value
      } catch let error where mayPass(error) {
        if (error as? PostgresError)?.kind == .timeout {
          answerTimeout = min(answerTimeout * 2, Self.longestAnswerTimeout)
        }
        disconnect()
        lose()
        let pause = Deadline(after: backoff.next())
        if WakeDescriptor.wait(for: wake, until: pause) { throw Self.interrupted }
      }
    }
  }

  /// Lets the connection go; the next one may lead elsewhere.
  func disconnect() {
    connection = nil
  }

  /// What is thrown when the thread is to end.
  static let interrupted = PostgresError(kind: .interrupted, message: "interrupted")

  private func connected(_ prepare: (Connection) throws -> Void) throws -> Connection {
    if let connection { return connection }
    let connection = try Connection(settings, wake: wake)
    connection.interrupt = wake
    connection.answerTimeout = answerTimeout
    try Migrator.checkSchema(of: connection)
    session = try SessionKind.of(connection) { () throws(PostgresError) in
      try Connection(settings, wake: wake)
    }
    try prepare(connection)
    hasBeenConnected = true
    self.connection = connection
    return connection
  }

  private func mayPass(_ error: any Error) -> Bool {
    switch error {
    case let error as PostgresError: error.isTransient && hasBeenConnected
    // What the primary has told is still on its way to the standby.
    case let error as StoreError: error.kind == .token(.future) && session == .standby
    default: false
    }
  }
}
