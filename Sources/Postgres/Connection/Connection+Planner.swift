extension Connection {
  /// Makes the planner use plain index scans until the connection ends.
  ///
  /// A page of the history is the first part of an index range. Statistics do not show the length of the
  /// range if transactions differ in size or are new. With too low an estimate, the planner would choose a
  /// bitmap scan and sort the whole remainder of a large transaction for each page. Do not call this on a
  /// pooled connection, whose session other clients get with its settings.
  package func readInIndexOrder() throws(PostgresError) {
    guard keepsStatements else { return }
    try execute("set enable_bitmapscan = off")
  }

  /// Makes the planner use one generic plan for each prepared statement, with plain index scans, until the
  /// connection ends.
  ///
  /// Otherwise the planner plans each page anew, since the estimated cost depends much on the number of
  /// transactions after the token; and planning takes ten times as long as execution. A generic plan may have
  /// been made while the table was empty, so sequential scans and sorting are off.
  package func readWithOnePlan() throws(PostgresError) {
    guard keepsStatements else { return }
    try executeScript(
      """
      set plan_cache_mode = force_generic_plan;
      set enable_bitmapscan = off;
      set enable_seqscan = off;
      set enable_sort = off;
      set jit = off;
      """)
  }

  /// Restores the planner's defaults for the rest of the transaction.
  package func planFreely() throws(PostgresError) {
    try executeScript(
      "set local enable_bitmapscan to default; set local enable_seqscan to default; set local enable_sort to default; set local jit to default"
    )
  }
}
