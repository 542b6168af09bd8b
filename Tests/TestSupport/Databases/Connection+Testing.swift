package import Postgres

extension Connection {
  /// Runs statements one after the other.
  package func run(_ statements: String...) throws {
    for statement in statements { try execute(SQL(trusted: statement)) }
  }

  /// The first column of the first row of a query's answer in text form; nil for null or no row.
  package func ask(_ query: String, _ parameters: [Parameter] = []) throws -> String? {
    let result = try execute(SQL(trusted: query), parameters)
    return result.rowCount > 0 ? result.text(0, 0) : nil
  }

  /// A query's answer as `psql -At` prints it: a line for each row, columns separated by `|`.
  package func table(_ query: String, _ parameters: [Parameter] = []) throws -> [String] {
    let result = try execute(SQL(trusted: query), parameters)
    return (0..<result.rowCount).map { row in
      (0..<result.columnCount).map { result.text(row, $0) ?? "" }.joined(separator: "|")
    }
  }

  /// Repeats a query about another session until it answers true, at most for `duration`.
  ///
  /// - Returns: Whether it answered true in time.
  package func eventually(
    _ condition: String, _ parameters: [Parameter] = [],
    within duration: Duration = ToolProcess.patience
  ) throws -> Bool {
    let begun = ContinuousClock.now
    repeat {
      if try ask("select (\(condition))::text", parameters) == "true" { return true }
      pauseBetweenQuestions(since: begun)
    } while ContinuousClock.now - begun < duration
    return false
  }

  /// Waits until a session with this application name waits for a lock in this database.
  package func waitUntilBlocked(applicationName: String) throws -> Bool {
    try eventually(
      """
      exists (select from pg_stat_activity
               where datname = current_database() and application_name = $1
                 and cardinality(pg_blocking_pids(pid)) > 0)
      """, [.text(applicationName)])
  }
}

extension QueryResult {
  /// A value of a text type, or of any type in the text format, by its row and column; nil for null.
  package func text(_ row: Int, _ column: Int) -> String? {
    isNull(row, column) ? nil : String(decoding: bytes(row, column), as: UTF8.self)
  }

  /// An integer in the text format; nil for null.
  package func integer(_ row: Int, _ column: Int) -> Int64? {
    text(row, column).flatMap { Int64($0) }
  }

  /// A boolean in the text format; nil for null.
  package func bool(_ row: Int, _ column: Int) -> Bool? {
    text(row, column).map { $0 == "t" }
  }
}
