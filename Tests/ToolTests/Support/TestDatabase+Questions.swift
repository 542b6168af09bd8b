import Foundation
import Postgres
import TestSupport
import Testing

extension TestDatabase {
  /// `--database` and the address.
  var option: [String] { ["--database", conninfo] }

  /// The first column of the answer, as text.
  func column(_ query: String) throws -> [String] {
    let result = try connect().execute(SQL(trusted: query))
    return (0..<result.rowCount).map { result.text($0, 0) ?? "null" }
  }

  /// The first value of the answer, as text.
  func value(_ query: String) throws -> String {
    try #require(try column(query).first, "no row: \(query)")
  }

  func count(_ table: String) throws -> Int {
    try #require(Int(try value("select count(*) from \(table)")))
  }

  /// Everything that an import may write, as one text: equal texts, equal contents.
  func contents() throws -> String {
    let tables = [
      "quake", "quake_alias", "quake_version", "change_transaction", "change_pending", "import",
      "import_reject", "feed", "migration",
    ]
    return try tables.map { table in
      try table + " "
        + value(
          """
          select count(*) || ' ' || coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '')
            from quake.\(table) t
          """)
    }.joined(separator: "\n")
  }

  /// The history in its order, each change as `token position op code`.
  func history() throws -> [String] {
    try column(
      """
      select concat_ws(' ', token, position, op, coalesce(code, 'null'))
        from quake.changes_since('0')
      """)
  }

  /// What `psql` does with statements on its standard input, one after the other in one session.
  @discardableResult
  func psql(
    _ script: String, options: [String] = [], environment: [String: String] = [:]
  ) throws -> ToolProcess.Outcome {
    let folder = try TemporaryFolder()
    let process = try ToolProcess(
      Tools.psql(), ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", conninfo] + options,
      environment: Tools.environment.merging(environment) { $1 },
      input: folder.write("script.sql", script))
    let outcome = try process.exit()
    try #require(outcome.status == 0, "psql failed: \(outcome.errors)")
    return outcome
  }

  /// Waits until a session of `application` has sent what contains `statement` and is idle.
  func waitForIdle(_ application: String, after statement: String) throws {
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
