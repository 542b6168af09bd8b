extension Connection {
  /// Has the planner read through indexes in their order, for as long as the connection lasts.
  ///
  /// A page of the history is the beginning of what an index holds for one transaction. How much that
  /// is, statistics do not tell where transactions are of very different sizes or have just been
  /// written; with an estimate too low, the planner collects and sorts the whole rest of a large one
  /// for each page. Not in a session that is lent, which others get with its settings.
  package func readInIndexOrder() throws(PostgresError) {
    guard keepsStatements else { return }
    try execute("set enable_bitmapscan = off")
  }

  /// Has each prepared statement planned once, for any parameters, and read through indexes in their
  /// order, for as long as the connection lasts.
  ///
  /// The planner would plan a reader's page anew each time, since how many transactions come after a
  /// token makes much of a difference to what it believes a page costs; and planning it takes ten times
  /// as long as running it does. A plan that is kept must not be one for a table that is still empty:
  /// hence no scans of whole tables, and no sorting.
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

  /// Has the planner choose freely for the rest of the transaction.
  package func planFreely() throws(PostgresError) {
    try executeScript(
      "set local enable_bitmapscan to default; set local enable_seqscan to default; set local enable_sort to default; set local jit to default"
    )
  }
}
