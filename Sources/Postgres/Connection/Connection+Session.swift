internal import CLibpq

extension Connection {
  /// Sets the pinned settings for the transaction that has begun, and queries its server process, which may be
  /// another one each time behind a pooler.
  private static let pinTransaction = SQL(
    trusted: "; select pg_catalog.pg_backend_pid(), \(assignments(isLocal: true))")

  /// Sets the pinned settings for the session.
  private static let pinSession = SQL(trusted: "select \(assignments(isLocal: false))")

  /// The server process, and the present values of the pinned settings. It works under any search path.
  private static let session = SQL(
    trusted: "select pg_catalog.pg_backend_pid(), "
      + "array["
      + ConnectionSettings.pinned.map { "pg_catalog.current_setting('\($0.name)')" }
      .joined(separator: ", ") + "]")

  private static func assignments(isLocal: Bool) -> String {
    ConnectionSettings.pinned.map {
      "pg_catalog.set_config('\($0.name)', '\($0.value)', \(isLocal))"
    }
    .joined(separator: ", ")
  }

  /// Determines whether the session has the pinned settings, and sets them if it may.
  ///
  /// A pooler gives each transaction some session of the server, whose settings may differ from those of the
  /// next. It is recognised by the process id: when a client connects, a pooler answers in the server's
  /// place, with a process id of its own making. A session of our own can lack settings because libpq's
  /// variables `PGTZ` and `PGDATESTYLE` override the options at the start.
  func lookAtSession(_ settings: ConnectionSettings, wake: Int32?) throws(PostgresError) {
    answerTimeout = Connecting.timeout(of: connection, default: settings.connectTimeout)
    interrupt = wake
    defer { (answerTimeout, interrupt) = (nil, nil) }
    // The format that no setting changes.
    let (process, values) = try row(Self.session, format: .binary, as: (Int32, [String]).self)
    let isOwn = process == serverProcessID
    let hasSettings = values == ConnectionSettings.pinned.map(\.value)
    pinsInTransactions = !isOwn
    keepsStatements = isOwn
    processID = isOwn ? serverProcessID : nil
    if isOwn, !hasSettings { try execute(Self.pinSession) }
  }

  /// Why the server is not to be used; nil if it may be.
  func refusal(_ settings: ConnectionSettings, wake: Int32?) throws(PostgresError) -> PostgresError?
  {
    answerTimeout = Connecting.timeout(of: connection, default: settings.connectTimeout)
    interrupt = wake
    defer { (answerTimeout, interrupt) = (nil, nil) }
    return try timelines?.refusal(of: self)
  }

  /// Notes the timeline of a server that has been promoted since it was connected to as a standby.
  ///
  /// - Throws: `PostgresError` of kind `connection` if the program has seen a newer timeline.
  package func noteTimeline() throws(PostgresError) {
    if let refusal = try timelines?.refusal(of: self) { throw refusal }
  }

  func beginPinned(_ begin: SQL) throws(PostgresError) {
    let begun = try runScript(begin + Self.pinTransaction)
    processID = try SQLRow.read(begun.pointer, 0, 0)
  }

  /// Begins a transaction with the pinned settings if the session does not have them.
  ///
  /// - Returns: Whether it has begun one.
  func beginPinnedIfNeeded() throws(PostgresError) -> Bool {
    guard pinsInTransactions, isIdle else { return false }
    try beginPinned("begin isolation level read committed")
    return true
  }

  /// Ends the transaction that `beginPinnedIfNeeded` has begun, if it has.
  func commitPinned(_ hasBegun: Bool) throws(PostgresError) {
    if hasBegun { _ = try runScript("commit") }
  }

  /// Rolls back the transaction that `beginPinnedIfNeeded` has begun, if it has.
  func rollBackPinned(_ hasBegun: Bool) {
    // If this fails the connection is gone, and with it the transaction.
    if hasBegun { _ = try? runScript("rollback") }
  }

  /// Runs `body` under the pinned settings: directly, or in a transaction of its own.
  func withPinnedSettings<Value: ~Copyable>(
    _ body: () throws(PostgresError) -> Value
  ) throws(PostgresError) -> Value {
    guard pinsInTransactions, try beginPinnedIfNeeded() else { return try body() }
    let value: Value
    do throws(PostgresError) {
      value = try body()
    } catch {
      rollBackPinned(true)
      throw error
    }
    try commitPinned(true)
    return value
  }
}

// MARK: - The planner

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
      """)
  }

  /// Restores the planner's defaults for the rest of the transaction.
  package func planFreely() throws(PostgresError) {
    try executeScript(
      "set local enable_bitmapscan to default; set local enable_seqscan to default; set local enable_sort to default"
    )
  }

  /// The SCRAM-SHA-256 verifier of a password. A server can check a password with it, but cannot recover the
  /// password from it.
  ///
  /// - Parameter role: The name of the role that gets the password.
  package func scramVerifier(password: String, role: String) throws(PostgresError) -> String {
    guard let text = PQencryptPasswordConn(connection, password, role, "scram-sha-256") else {
      throw PostgresError(connection: connection, doing: "could not hash a password")
    }
    defer { PQfreemem(text) }
    return String(cString: text)
  }
}
