import Foundation
import Postgres
import Synchronization

extension TestDatabase {
  /// The option `--database` with the connection string.
  package var option: [String] { ["--database", conninfo] }

  /// The first column of the answer, as text.
  package func column(_ query: String) throws -> [String] {
    let rows = try questions.withLockIfAvailable { session in
      do {
        if let session { return try Self.column(query, in: session) }
      } catch let error as PostgresError where error.isConnectionLoss {
        // The test has ended the session, or the server, since the last question.
      }
      session = nil
      let new = try connect()
      let rows = try Self.column(query, in: new)
      session = new
      return rows
    }
    // Another thread of the test is asking something that may take until this is answered.
    return try rows ?? Self.column(query, in: connect())
  }

  /// Ends the session for questions, for statements that no other session may disturb. The next question begins
  /// another one.
  package func endQuestions() {
    questions.withLock { $0 = nil }
  }

  private static func column(_ query: String, in session: Connection) throws -> [String] {
    let result = try session.execute(SQL(trusted: query))
    return (0..<result.rowCount).map { result.text($0, 0) ?? "null" }
  }

  /// The first value of the answer, as text.
  package func value(_ query: String) throws -> String {
    guard let value = try column(query).first else {
      throw ToolProcess.Failure(description: "no row: \(query)")
    }
    return value
  }

  /// How many rows a table has.
  package func count(_ table: String) throws -> Int {
    Int(try value("select count(*) from \(table)")) ?? -1
  }

  /// Runs `psql` with `script` as its standard input; throws if it fails.
  @discardableResult
  package func psql(
    _ script: String, options: [String] = [], environment: [String: String] = [:]
  ) throws -> ToolProcess.Outcome {
    let folder = try TemporaryFolder()
    let process = try ToolProcess(
      Tools.psql, ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", conninfo] + options,
      environment: Tools.environment.merging(environment) { $1 },
      input: folder.write("script.sql", script))
    let outcome = try process.exit()
    guard outcome.status == 0 else {
      throw ToolProcess.Failure(description: "psql failed: \(outcome.errors)")
    }
    return outcome
  }

  /// Waits until a session of `application` is idle after a statement that contains `statement`.
  package func waitForIdle(_ application: String, after statement: String) throws {
    try eventually("\(application) is idle after \(statement)") {
      try value(
        """
        select count(*) from pg_stat_activity
         where datname = current_database() and application_name = '\(application)'
           and state = 'idle' and query like '%\(statement)%'
        """) != "0"
    }
  }
}
