internal import Postgres

extension Connection {
  /// Has the planner read through indexes in their order, for as long as the connection lasts.
  ///
  /// A page of the history is the beginning of what an index holds for one transaction. How much that
  /// is, statistics do not tell where transactions are of very different sizes or have just been
  /// written; with an estimate too low, the planner collects and sorts the whole rest of a large one
  /// for each page. Not in a session that is lent, which others get with its settings.
  func readInIndexOrder() throws(PostgresError) {
    guard keepsStatements else { return }
    try execute("set enable_bitmapscan = off")
  }
}
