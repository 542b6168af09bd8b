internal import Postgres
internal import QuakeSchema

/// Runs one query over a connection of its own.
struct OneShotQuery<Answer: Sendable>: PullSource {
  private let settings: ConnectionSettings
  private let wake: Int32
  private let question: @Sendable (Connection) throws -> Answer
  private var isDone = false

  init(
    _ settings: ConnectionSettings, wake: Int32,
    _ question: @escaping @Sendable (Connection) throws -> Answer
  ) {
    self.settings = settings
    self.wake = wake
    self.question = question
  }

  mutating func next() throws -> Answer? {
    guard !isDone else { return nil }
    isDone = true
    let connection = try Connection(settings, wake: wake)
    connection.interrupt = wake
    // Preparing does not pay for one answer, and there may be a pooler in between.
    connection.keepsStatements = false
    try Migrator.checkSchema(of: connection)
    return try question(connection)
  }

  mutating func pause() {}
}
