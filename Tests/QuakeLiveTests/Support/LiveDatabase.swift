import Postgres
import QuakeModel
import QuakeStore
import TestSupport

/// A database of a test's own, as a program with the library sees it.
struct LiveDatabase: Sendable {
  let test: TestDatabase
  let live: QuakeDatabase

  init() throws {
    test = try TestDatabase()
    var settings = ConnectionSettings(test.conninfo, applicationName: Self.applicationName)
    // The first connection of a stream is not tried again: on a busy machine it may take longer than the default.
    settings.connectTimeout = ToolProcess.patience
    live = QuakeDatabase(settings)
  }

  static let applicationName = "live"

  /// Runs `body`, which gets a connection of a writer, on a queue of its own.
  func run(_ body: @escaping @Sendable (Connection) async throws -> Void) async throws {
    let test = test
    try await OwnThread.run { try await body(test.connect()) }
  }

  /// True when the library has that many connections.
  static func connections(_ count: Int) -> String {
    """
    (select count(*) from pg_stat_activity
      where datname = current_database() and application_name = '\(applicationName)') = \(count)
    """
  }

  /// True when the one connection of the library waits for its client, outside any transaction, after
  /// that statement.
  static func idle(after statement: String) -> String {
    """
    exists (select from pg_stat_activity
             where datname = current_database() and application_name = '\(applicationName)'
               and state = 'idle' and xact_start is null and query like '\(statement)%')
    """
  }
}

extension Connection {
  /// Inserts `count` events by one statement, with codes of that prefix.
  func insertQuakes(_ prefix: String, _ count: Int = 1, magnitude: Double = 5) throws {
    try execute(
      """
      insert into quake.quake (code, time, magnitude)
      select $1 || i, '2024-01-31T12:00:00Z'::timestamptz + i * interval '1 s', $3::float8
        from generate_series(1, $2::int) i
      """, [.text(prefix), .integer(Int64(count)), .double(magnitude)])
  }

  /// Where each change of the history is, in commit order.
  func places(after token: ChangeToken = .beginning) throws -> [String] {
    try table(
      "select token || ':' || position from quake.changes_since($1)", [.text(token.description)])
  }
}

extension Change {
  /// Token and position, as `Connection.places` gives them.
  var label: String { "\(transaction.token):\(position)" }
}

extension AsyncSequence {
  /// The first `count` elements, each as `value` gives it.
  func first<Value>(
    _ count: Int, _ value: (Element) -> Value
  ) async throws -> [Value] {
    var values: [Value] = []
    guard count > 0 else { return values }
    for try await element in self {
      values.append(value(element))
      if values.count == count { break }
    }
    return values
  }
}
