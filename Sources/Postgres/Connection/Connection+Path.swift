internal import CLibpq

extension Connection {
  /// Sets our search path for the transaction that has begun, and queries its server process, which may be
  /// another one each time behind a pooler.
  private static let setPath: SQL = """
    ; set local search_path = pg_catalog, pg_temp; select pg_catalog.pg_backend_pid()
    """

  /// Determines whether the session has our search path, with a statement that works under any search path.
  ///
  /// A pooler gives each transaction some session of the server, whose settings may differ from those of the
  /// next. It is recognised by the process id: when a client connects, a pooler answers in the server's
  /// place, with a process id of its own making.
  func lookAtSession(_ settings: ConnectionSettings, wake: Int32?) throws(PostgresError) {
    answerTimeout = Self.ownTimeout(connection, default: settings.connectTimeout)
    interrupt = wake
    defer { (answerTimeout, interrupt) = (nil, nil) }
    let session = try execute(
      "select pg_catalog.current_setting('search_path'), pg_catalog.pg_backend_pid()")
    let process = session.integer(0, 1)
    let isOwn = process == Int64(serverProcessID)
    setsPath = !isOwn || session.text(0, 0) != ConnectionSettings.searchPath
    keepsStatements = isOwn
    processID = isOwn ? serverProcessID : nil
  }

  func beginInPath(_ begin: SQL) throws(PostgresError) {
    processID = try runScript(begin + Self.setPath).integer(0, 0).flatMap { Int32(exactly: $0) }
  }

  /// Begins a transaction with our search path if the session does not have it.
  ///
  /// - Returns: Whether it has begun one.
  func enterPath() throws(PostgresError) -> Bool {
    guard setsPath, isIdle else { return false }
    try beginInPath("begin")
    return true
  }

  /// Ends the transaction that `enterPath` has begun, if it has.
  func leavePath(_ hasBegun: Bool) throws(PostgresError) {
    if hasBegun { _ = try runScript("commit") }
  }

  /// Rolls back the transaction that `enterPath` has begun, if it has.
  func abandonPath(_ hasBegun: Bool) {
    // If this fails the connection is gone, and with it the transaction.
    if hasBegun { _ = try? runScript("rollback") }
  }

  /// Runs `body` under our search path: directly, or in a transaction of its own.
  func inPath<Value: ~Copyable>(
    _ body: () throws(PostgresError) -> Value
  ) throws(PostgresError) -> Value {
    guard setsPath, try enterPath() else { return try body() }
    let value: Value
    do throws(PostgresError) {
      value = try body()
    } catch {
      abandonPath(true)
      throw error
    }
    try leavePath(true)
    return value
  }
}
