import Foundation
import TestSupport

/// A suite whose tests have a database and a folder, each test its own.
class ToolSuite {
  let database: TestDatabase
  let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
  }
}

extension TestDatabase {
  /// Starts a tool that uses the database.
  func start(
    _ tool: String, _ arguments: [String], environment: [String: String] = [:],
    input: String = "/dev/null", folder: String? = nil, output: Int32? = nil
  ) throws -> ToolProcess {
    try Tools.start(
      tool, arguments + option, environment: environment, input: input, folder: folder,
      output: output)
  }

  /// Runs a tool that uses the database to its end.
  func run(
    _ tool: String, _ arguments: [String], environment: [String: String] = [:],
    input: String = "/dev/null", folder: String? = nil
  ) throws -> ToolProcess.Outcome {
    try start(tool, arguments, environment: environment, input: input, folder: folder).exit()
  }

  /// Runs a tool that uses the database to its end, and throws its messages unless it succeeds.
  @discardableResult
  func succeed(
    _ tool: String, _ arguments: [String], environment: [String: String] = [:],
    input: String = "/dev/null", folder: String? = nil
  ) throws -> ToolProcess.Outcome {
    try Tools.succeed(
      tool, arguments + option, environment: environment, input: input, folder: folder)
  }

  /// Dates each transaction as many minutes after 2024-01-01T00:00:00Z as its token says.
  func dateTransactions() throws {
    _ = try column(
      """
      update quake.change_transaction
         set at = '2024-01-01T00:00:00Z'::timestamptz + token * interval '1 minute'
      """)
  }

  /// How many sessions of a program meet a condition on `pg_stat_activity`.
  func sessions(of application: String, where condition: String = "true") throws -> Int {
    try count(
      """
      pg_stat_activity where datname = current_database() and application_name = '\(application)'
        and \(condition)
      """)
  }

  /// Waits until a session of a program waits for a lock.
  func waitForLock(of application: String) throws {
    try eventually("\(application) waits for a lock") {
      try sessions(of: application, where: "wait_event_type = 'Lock'") > 0
    }
  }

  /// Waits until the server has ended all sessions of a program.
  func waitForNone(_ application: String) throws {
    try eventually("the sessions of \(application) have ended") {
      try sessions(of: application) == 0
    }
  }
}

/// The text of a file.
func contents(of path: String) throws -> String {
  try String(contentsOfFile: path, encoding: .utf8)
}
