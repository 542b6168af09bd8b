package import Basics
internal import CLibpq
internal import Glibc

/// One connection to a PostgreSQL server, used by one thread.
///
/// It is not safe for concurrent use, and therefore not `Sendable`. Calls block in `poll(2)`, so that a
/// deadline or a wake descriptor can end them.
public final class Connection {
  private(set) var connection: OpaquePointer
  let timelines: SeenTimelines?
  /// How long to wait for the answer to a statement; nil for no limit. The time begins again with each notification,
  /// because the answer comes after those that the server has to send. After a timeout the connection is unusable.
  package var answerTimeout: Duration?
  /// A descriptor that becomes readable when the caller wants to stop. A running statement is then cancelled
  /// and throws an error of kind `interrupted`, and the connection is unusable.
  package var interrupt: Int32?
  /// Whether prepared statements are kept. Must be false behind a pooler in transaction mode, or of
  /// unknown mode.
  package var keepsStatements = true
  package var watch: StatementWatch?
  /// The reason for which the running statement was cancelled, if it was.
  var cancellation: PostgresError?
  /// Whether a wait for the server has ended without an answer: no other one begins.
  var isSilent = false
  /// Whether each transaction must set the pinned settings, because the session may not have them.
  var pinsInTransactions = false
  /// The server process that runs the present statement, if it is known.
  var processID: Int32?
  private var prepared: [PreparedText: String] = [:]
  var prefetched = Prefetched.none
  var prefetchCount = 0
  /// The first notifications that have arrived and have not been taken. The number is limited, because every
  /// role that may connect can send any number.
  private var arrived: [ServerNotification] = []
  private static let mostNotifications = 64
  /// The most bytes of the answer to the running statement; nil for no limit.
  private var answerLimit: Int?
  /// The bytes that have arrived.
  private var answerBytes = 0
  /// Why the server has ended the session, if it said so while no statement ran.
  private var lastWords: String?
  /// The connection is closed if a server sends more than this multiple of the limit after a cancellation.
  private static let answerTolerance = 8

  /// The form in which values are returned.
  public enum Format: Int32, Sendable {
    /// PostgreSQL's text representation.
    case text = 0
    /// The type's binary representation, big-endian.
    case binary = 1
  }

  /// Connects. Of several hosts, one that `timelines` of the settings refuse is left out.
  ///
  /// - Parameters:
  ///   - settings: The address and its options.
  ///   - wake: A descriptor that becomes readable when the caller wants to stop.
  /// - Throws: `PostgresError` of kind `connection`, `timeout` or `interrupted`.
  package init(_ settings: ConnectionSettings, wake: Int32? = nil) throws(PostgresError) {
    try settings.check()
    timelines = settings.timelines
    // The last property is set only after `Connecting.open` has succeeded: an initialiser that throws with all properties set
    // runs `deinit`, which would close the connection a second time.
    connection = try Connecting.open(settings, wake: wake)
    try lookAtSession(settings, wake: wake)
    while let refusal = try refusal(settings, wake: wake) {
      var others = settings
      others.address = otherHosts
      guard !others.address.isEmpty else { throw refusal }
      let next = try Connecting.open(others, wake: wake)
      PQfinish(connection)
      connection = next
      try lookAtSession(others, wake: wake)
    }
    keepLastWords()
  }

  /// Keeps why the server ends the session while no statement runs, which libpq takes for a notice: the server stops, an
  /// administrator ends the session, or `idle_session_timeout` has passed.
  private func keepLastWords() {
    PQsetNoticeReceiver(
      connection,
      { connection, notice in
        guard let connection, let notice,
          PostgresError.field(quake_pq_severity, of: notice) == "FATAL"
        else { return }
        let this = Unmanaged<Connection>.fromOpaque(connection).takeUnretainedValue()
        this.lastWords = PostgresError.field(quake_pq_message, of: notice)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    if case .answered(let result) = prefetched { PQclear(result) }
    PQfinish(connection)
  }

  // MARK: - Waiting

  package enum WaitOutcome: Sendable {
    /// The descriptor is readable (or writable).
    case ready
    case timedOut
    case woken
  }

  static func wait(
    _ socket: Int32, for events: Int16, until deadline: Deadline?, wake: Int32?
  ) -> WaitOutcome {
    // A tuple, because an array would be allocated for each wait. poll(2) ignores a negative descriptor.
    var descriptors = (
      pollfd(fd: socket, events: events, revents: 0),
      pollfd(fd: wake ?? -1, events: Int16(POLLIN), revents: 0)
    )
    while true {
      let count = withUnsafeMutableBytes(of: &descriptors) { bytes in
        poll(
          bytes.bindMemory(to: pollfd.self).baseAddress, wake == nil ? 1 : 2,
          deadline?.pollTimeout ?? -1)
      }
      if count > 0 { return descriptors.1.revents != 0 ? .woken : .ready }
      if count == 0 { return .timedOut }
      // Interrupted by a signal whose handler did not write to the wake descriptor: wait again.
    }
  }

  /// Waits until the server has sent something, such as a notification.
  package func wait(until deadline: Deadline, wake: Int32? = nil) -> WaitOutcome {
    Self.wait(PQsocket(connection), for: Int16(POLLIN), until: deadline, wake: wake)
  }

  /// Waits without reading from the server.
  package static func pause(for duration: Duration, wake: Int32? = nil) -> WaitOutcome {
    wait(-1, for: 0, until: Deadline(after: duration), wake: wake)
  }

  /// Takes the notifications that have arrived, at most the first 64; never blocks.
  ///
  /// - Throws: `PostgresError` of kind `connection` when the connection is lost.
  package func takeNotifications() throws(PostgresError) -> [ServerNotification] {
    guard PQconsumeInput(connection) == 1 else { throw lost() }
    _ = collectNotifications()
    defer { arrived.removeAll() }
    return arrived
  }

  /// Drops the notifications that have arrived; never blocks.
  ///
  /// - Returns: Whether there were any.
  /// - Throws: `PostgresError` of kind `connection` when the connection is lost.
  package func dropNotifications() throws(PostgresError) -> Bool {
    try !takeNotifications().isEmpty
  }

  /// Takes the parsed notifications from libpq, which would collect them without a limit; false: there were none.
  private func collectNotifications() -> Bool {
    var hasAny = false
    while let notification = PQnotifies(connection) {
      hasAny = true
      defer { PQfreemem(notification) }
      guard arrived.count < Self.mostNotifications else { continue }
      arrived.append(
        ServerNotification(
          channel: String(cString: notification.pointee.relname),
          payload: String(cString: notification.pointee.extra),
          processID: notification.pointee.be_pid))
    }
    return hasAny
  }

  // MARK: - Statements

  /// Runs one statement and returns its result. `rows(_:as:)` and its like return the values in it.
  ///
  /// - Parameter format: The form of the result's values.
  @discardableResult
  public func execute(
    _ statement: SQL, format: Format = .text
  ) throws(PostgresError) -> QueryResult {
    try execute(statement, [], format: format)
  }

  /// The same for a statement whose text has `$1`, `$2`, ... in it, because it is made at run time.
  @discardableResult
  package func execute(
    _ statement: SQL, _ parameters: [Parameter], format: Format = .text
  ) throws(PostgresError) -> QueryResult {
    try finishPrefetch()
    return try withPinnedSettings { () throws(PostgresError) in
      try send(statement, parameters, format)
      return try lastResult(statement.text)
    }
  }

  private func send(
    _ statement: SQL, _ parameters: [Parameter], _ format: Format, limit: Int? = nil
  ) throws(PostgresError) {
    let (text, bound) = statement.rendered
    let values = try Self.texts(bound + parameters)
    expectAnswer(limit: limit)
    let sent = withCStrings(values) { pointers in
      PQsendQueryParams(
        connection, text, Int32(values.count), nil, pointers, nil, nil, format.rawValue)
    }
    guard sent == 1 else { throw lost() }
  }

  /// The text forms of parameters.
  ///
  /// - Throws: `PostgresError` of kind `server` for a text with a NUL, which no value in PostgreSQL can have,
  ///   and at which libpq would cut it.
  private static func texts(_ parameters: [Parameter]) throws(PostgresError) -> [String?] {
    let texts = parameters.map(\.textForm)
    guard !texts.contains(where: { $0?.utf8.contains(0) == true }) else { throw .unstorable }
    return texts
  }

  func expectAnswer(limit: Int?) {
    answerLimit = limit
    answerBytes = 0
  }

  /// Runs one statement, which is prepared at its first use and kept until the connection ends.
  ///
  /// - Parameter limit: The approximate limit of the answer in bytes; nil for no limit. A statement whose
  ///   answer exceeds it is cancelled, with an error of kind `tooLarge`.
  @discardableResult
  package func executePrepared(
    _ statement: SQL, format: Format = .text, limit: Int? = nil
  ) throws(PostgresError) -> QueryResult {
    try executePrepared(statement, [], format: format, limit: limit)
  }

  /// The same for a statement whose text has `$1`, `$2`, ... in it, because it is made at run time.
  @discardableResult
  package func executePrepared(
    _ statement: SQL, _ parameters: [Parameter], format: Format = .text, limit: Int? = nil
  ) throws(PostgresError) -> QueryResult {
    try finishPrefetch()
    return try withPinnedSettings { () throws(PostgresError) in
      try sendPrepared(statement, parameters, format: format, limit: limit)
      return try lastResult(statement.text)
    }
  }

  func sendPrepared(
    _ statement: SQL, _ parameters: [Parameter] = [], format: Format, limit: Int? = nil
  ) throws(PostgresError) {
    guard keepsStatements else { return try send(statement, parameters, format, limit: limit) }
    let (statementText, bound) = statement.rendered
    let values = try Self.texts(bound + parameters)
    let text = PreparedText(text: statementText)
    let name: String
    if let known = prepared[text] {
      name = known
    } else {
      name = "quake_\(prepared.count + 1)"
      expectAnswer(limit: nil)
      guard PQsendPrepare(connection, name, text.text, 0, nil) == 1 else { throw lost() }
      _ = try lastResult(text.text)
      prepared[text] = name
    }
    expectAnswer(limit: limit)
    let sent = withCStrings(values) { pointers in
      PQsendQueryPrepared(
        connection, name, Int32(values.count), pointers, nil, nil, format.rawValue)
    }
    guard sent == 1 else { throw lost() }
  }

  /// Runs a script of any number of statements; stops at the first error. Outside a transaction block
  /// the whole script is one transaction.
  public func executeScript(_ script: SQL) throws(PostgresError) {
    try finishPrefetch()
    _ = try withPinnedSettings { () throws(PostgresError) in try runScript(script) }
  }

  func runScript(_ script: SQL) throws(PostgresError) -> QueryResult {
    expectAnswer(limit: nil)
    guard PQsendQuery(connection, script.text) == 1 else { throw lost() }
    return try lastResult(script.text, isScript: true)
  }

  /// Runs a query and passes its rows to `body` in small results as they arrive, so that memory does not
  /// depend on the number of rows. The connection cannot be used for anything else meanwhile.
  ///
  /// When `body` throws, the query is cancelled and the connection stays usable.
  package func stream(
    _ statement: SQL, format: Format = .binary, _ body: (borrowing QueryResult) throws -> Void
  ) throws {
    try finishPrefetch()
    let hasBegun = try beginPinnedIfNeeded()
    do {
      try streamRows(statement, format, body)
    } catch {
      rollBackPinned(hasBegun)
      throw error
    }
    try commitPinned(hasBegun)
  }

  private func streamRows(
    _ statement: SQL, _ format: Format, _ body: (borrowing QueryResult) throws -> Void
  ) throws {
    try send(statement, [], format)
    guard quake_pq_stream_rows(connection, Self.rowsOfPart) == 1 else { throw lost() }
    var failure: (any Error)?
    while let result = try nextResult() {
      let status = PQresultStatus(result)
      if quake_pq_is_partial(status) != 0 {
        let rows = QueryResult(owning: result)
        guard failure == nil else { continue }
        do {
          try body(rows)
        } catch {
          failure = error
          cancelHandle?.cancel(within: CancelHandle.patience)
        }
        continue
      }
      if status != PGRES_TUPLES_OK, failure == nil {
        failure = named(
          PostgresError(result: result, connection: connection, statement: statement.text))
      }
      PQclear(result)
      // libpq would return the result of a COPY again and again.
      if status == PGRES_COPY_IN || status == PGRES_COPY_OUT { break }
    }
    cancellation = nil
    if let failure { throw failure }
  }

  /// The number of rows in each partial result. With the longest texts that the schema allows, they take some
  /// megabytes.
  private static let rowsOfPart: Int32 = 8

  func lost() -> PostgresError {
    let doing = "lost the connection to the database"
    if let lastWords {
      return PostgresError(kind: .connection, message: "\(doing): FATAL: \(lastWords)")
    }
    return PostgresError(connection: connection, doing: doing)
  }

  /// The next result of the running statement, or nil at its end.
  func nextResult() throws(PostgresError) -> OpaquePointer? {
    try flush()
    if PQisBusy(connection) != 0 {
      var patience = Patience(self)
      repeat {
        try wait(for: Int16(POLLIN), &patience)
        if try takeIn() { patience.restart(over: self) }
      } while PQisBusy(connection) != 0
    }
    return PQgetResult(connection)
  }

  /// Reads the part of the answer that has arrived. Blocks only to cancel a statement whose answer has become
  /// too large, because libpq keeps a whole answer in memory.
  ///
  /// - Returns: Whether there were notifications.
  @discardableResult
  func takeIn() throws(PostgresError) -> Bool {
    if answerLimit != nil { answerBytes += available }
    guard PQconsumeInput(connection) == 1 else { throw lost() }
    // The server sends notifications between statements only, so the answer begins after the last of them.
    let hasNotifications = collectNotifications()
    if hasNotifications { answerBytes = 0 }
    if let answerLimit, answerBytes > answerLimit {
      if cancellation == nil {
        cancellation = Self.tooLarge
        cancelHandle?.cancel(within: CancelHandle.patience)
      }
      guard answerBytes <= answerLimit * Self.answerTolerance else { throw Self.tooLarge }
    }
    return hasNotifications
  }

  static let tooLarge = PostgresError(
    kind: .tooLarge, message: "the answer of the database is too large")

  /// Reads all results of the statement. Returns the last one or throws the first error.
  ///
  /// - Parameters:
  ///   - first: A result of the statement that has been read already.
  ///   - isScript: Whether there may be several statements. An error then has a line even if the server
  ///     reports no position, as for errors during execution.
  func lastResult(
    _ statement: String, first: OpaquePointer? = nil, isScript: Bool = false
  ) throws(PostgresError) -> QueryResult {
    do {
      return try readResults(of: statement, first, isScript)
    } catch {
      throw error.caused(by: statement)
    }
  }

  private func readResults(
    of statement: String, _ first: OpaquePointer?, _ isScript: Bool
  ) throws(PostgresError) -> QueryResult {
    var last: OpaquePointer?
    var failure: PostgresError?
    var statementsDone = 0
    var known = first
    while let result = try known == nil ? nextResult() : known {
      known = nil
      switch PQresultStatus(result) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
        statementsDone += 1
        PQclear(last)
        last = result
        continue
      case PGRES_COPY_IN:
        // Otherwise the connection would wait for data for ever.
        PQclear(last)
        last = nil
        PQputCopyEnd(connection, "COPY is run by copyIn")
      case PGRES_COPY_OUT:
        // Otherwise libpq would return the same result until the data is read.
        PQclear(last)
        last = nil
        if failure == nil {
          failure = PostgresError(kind: .server, message: "COPY to the client is not supported")
        }
        PQclear(result)
        try dropCopy()
        continue
      default:
        if failure == nil {
          failure = PostgresError(result: result, connection: connection, statement: statement)
        }
      }
      PQclear(result)
    }
    defer { cancellation = nil }
    if var failure {
      failure = named(failure)
      if isScript, failure.line == nil {
        failure.line = SQLScript.line(ofStatement: statementsDone, in: statement)
      }
      PQclear(last)
      throw failure
    }
    guard let last else { throw lost() }
    return QueryResult(owning: last)
  }

  // MARK: - COPY

  /// Cancels a COPY to the client, and discards its data.
  func dropCopy() throws(PostgresError) {
    cancelHandle?.cancel(within: CancelHandle.patience)
    let deadline = Deadline(after: CancelHandle.patience)
    var row: UnsafeMutablePointer<CChar>?
    while true {
      let count = PQgetCopyData(connection, &row, 1)
      guard count >= 0 else { return }
      PQfreemem(row)
      row = nil
      if count == 0 {
        guard wait(until: deadline) == .ready else { throw Self.silent }
        guard PQconsumeInput(connection) == 1 else { throw lost() }
      }
    }
  }

  /// Runs `COPY ... FROM STDIN (FORMAT binary)` with the rows that `body` writes. When `body` throws, the
  /// COPY is aborted, none of its rows are stored, and the error is rethrown.
  ///
  /// - Returns: The number of rows that the server stored.
  @discardableResult
  package func copyIn(
    _ statement: SQL, _ body: (inout CopyWriter) throws -> Void
  ) throws -> Int {
    try finishPrefetch()
    let hasBegun = try beginPinnedIfNeeded()
    let count: Int
    do {
      count = try copyRows(statement, body)
    } catch {
      rollBackPinned(hasBegun)
      throw error
    }
    try commitPinned(hasBegun)
    return count
  }

  private func copyRows(
    _ statement: SQL, _ body: (inout CopyWriter) throws -> Void
  ) throws -> Int {
    expectAnswer(limit: nil)
    guard PQsendQuery(connection, statement.text) == 1 else { throw lost() }
    guard let start = try nextResult() else { throw lost() }
    guard PQresultStatus(start) == PGRES_COPY_IN else {
      _ = try lastResult(statement.text, first: start)
      throw PostgresError(kind: .server, message: "the statement is not a COPY from the client")
    }
    PQclear(start)
    var writer = CopyWriter(connection: self)
    do {
      try body(&writer)
      try writer.finish()
    } catch {
      _ = try? endCopy(Self.abort)
      do throws(PostgresError) {
        _ = try lastResult(statement.text)
      } catch let verdict {
        // If the server's error made sending fail, it is the cause to report, unless it is only the answer to
        // the abort just sent.
        if error is PostgresError, !verdict.message.contains(Self.abort) { throw verdict }
      }
      throw error
    }
    try endCopy(nil)
    return try lastResult(statement.text).affectedRows
  }

  private static let abort = "aborted by the client"

  private func endCopy(_ error: String?) throws(PostgresError) {
    // The server's error, if there is one, is the result of the COPY.
    let isSent = PQputCopyEnd(connection, error) == 1
    if isSent { try flush() }
    guard isSent || error != nil else { throw lost() }
  }

  func putCopyData(_ values: borrowing CopyValues) throws(PostgresError) {
    var isSent = true
    values.withBytes(0..<values.count) { bytes in
      guard let base = bytes.bindMemory(to: CChar.self).baseAddress else { return }
      isSent = PQputCopyData(connection, base, Int32(bytes.count)) == 1
    }
    guard isSent else { throw lost() }
    try flush()
  }

  private func flush() throws(PostgresError) {
    var left = PQflush(connection)
    guard left > 0 else { return }
    var patience = Patience(self)
    while left > 0 {
      try wait(for: Int16(POLLIN | POLLOUT), &patience)
      try takeIn()
      left = PQflush(connection)
    }
    guard left == 0 else { throw lost() }
  }

  // MARK: - Transactions

  /// The isolation level of a transaction.
  public enum Isolation: Sendable {
    /// Each statement sees what was committed before it.
    case readCommitted
    /// All statements see what was committed before the first.
    case repeatableRead
  }

  /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
  ///
  /// If the connection is lost during the commit, it is not known whether the transaction was committed, and
  /// the error says so.
  public func transaction<Value>(
    _ isolation: Isolation = .readCommitted, readOnly: Bool = false, _ body: () throws -> Value
  ) throws -> Value {
    try begin(isolation, readOnly: readOnly)
    let value: Value
    do {
      value = try body()
    } catch {
      // If this fails too, the connection is lost, and with it the transaction.
      _ = try? rollback()
      throw error
    }
    try commit()
    return value
  }

  /// Begins a transaction that does not end in the same function; see `transaction`.
  package func begin(
    _ isolation: Isolation = .readCommitted, readOnly: Bool = false
  ) throws(PostgresError) {
    let begin: SQL =
      switch (isolation, readOnly) {
      case (.readCommitted, false): "begin isolation level read committed read write"
      case (.readCommitted, true): "begin isolation level read committed read only"
      case (.repeatableRead, false): "begin isolation level repeatable read read write"
      case (.repeatableRead, true): "begin isolation level repeatable read read only"
      }
    do throws(PostgresError) {
      guard pinsInTransactions else {
        try execute(begin)
        return
      }
      try finishPrefetch()
      try beginPinned(begin)
    } catch {
      // A hot standby refuses to begin with another state than a statement that writes there.
      var error = error
      if error.sqlState == SQLState.featureNotSupported {
        error.sqlState = SQLState.readOnlyTransaction
      }
      throw error
    }
  }

  /// Commits the open transaction. It is ended even if this throws. If the connection was lost, it is not
  /// known whether the transaction was committed, and the error says so.
  package func commit() throws(PostgresError) {
    do throws(PostgresError) {
      // If a statement failed and the caller ignored its error, the server answers "commit" with a rollback,
      // but without an error.
      guard try execute("commit").commandTag == "COMMIT" else {
        throw PostgresError(
          kind: .server, sqlState: SQLState.inFailedTransaction,
          message: "the transaction was rolled back because a statement in it had failed")
      }
    } catch {
      var error = error
      // If the server refused the commit, or cancelled it, the transaction is rolled back.
      if error.kind != .server, error.sqlState != SQLState.queryCanceled {
        error.detail =
          (error.detail.map { $0 + " " } ?? "")
          + "Whether the transaction was committed is not known."
      } else {
        _ = try? rollback()
      }
      throw error
    }
  }

  package func rollback() throws(PostgresError) {
    try execute("rollback")
  }

  // MARK: - About the connection

  /// Whether the session is new. Behind a pooler, other clients may have used it before.
  package var hasNewSession: Bool { !pinsInTransactions }

  /// A handle that cancels the running statement from another thread.
  package var cancelHandle: CancelHandle? { CancelHandle(connection: connection) }

  /// Whether no statement is running and no transaction is open.
  package var isIdle: Bool { PQtransactionStatus(connection) == PQTRANS_IDLE }

  /// The server's version number, such as 150018.
  package var serverVersion: Int { Int(PQserverVersion(connection)) }

  /// Process id of the server process, as in `pg_stat_activity`.
  package var serverProcessID: Int32 { PQbackendPID(connection) }

  /// libpq's parameters for the one of several hosts that the connection has.
  package var address: [(keyword: String, value: String)] {
    let host = PQhost(connection).map { String(cString: $0) } ?? ""
    let hostAddress = host.hasPrefix("/") ? nil : PQhostaddr(connection).map { String(cString: $0) }
    return [
      ("host", host), ("hostaddr", hostAddress ?? ""),
      ("port", PQport(connection).map { String(cString: $0) } ?? ""),
      ("target_session_attrs", "any"),
    ]
  }

  /// Database and host, for messages: `database "quake" on host "db.example.org"`. The port follows unless it is 5432:
  /// a host may have several servers.
  package var label: String {
    let database = PQdb(connection).map { String(cString: $0) } ?? ""
    let host = PQhost(connection).map { String(cString: $0) } ?? ""
    let port = PQport(connection).map { String(cString: $0) } ?? Self.usualPort
    let suffix = port == Self.usualPort ? "" : ", port \(port)"
    return "database \"\(database)\" on host \"\(host)\"\(suffix)"
  }
}

/// The text of a prepared statement. Only its length is hashed: a connection has few statements and looks one up
/// at each execution, and hashing a long text would take longer.
private struct PreparedText: Hashable {
  let text: String

  func hash(into hasher: inout Hasher) {
    hasher.combine(text.utf8.count)
  }
}

/// Calls `body` with an array of C strings, nil for nil, ended by a null pointer.
func withCStrings<Value>(
  _ strings: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Value
) -> Value {
  var storage: [UInt8] = []
  storage.reserveCapacity(strings.reduce(0) { $0 + ($1?.utf8.count ?? 0) + 1 })
  for string in strings {
    guard let string else { continue }
    storage.append(contentsOf: string.utf8)
    storage.append(0)
  }
  return storage.withUnsafeBytes { bytes in
    withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: strings.count + 1) {
      pointers in
      var next = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      for (index, string) in strings.enumerated() {
        pointers.initializeElement(at: index, to: string == nil ? nil : next)
        if let string { next = next?.advanced(by: string.utf8.count + 1) }
      }
      pointers.initializeElement(at: strings.count, to: nil)
      return body(UnsafePointer(pointers.baseAddress))
    }
  }
}
