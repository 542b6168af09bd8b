internal import CLibpq
internal import Glibc
public import SystemClock

/// One connection to a PostgreSQL server, used by one thread.
///
/// Not safe for concurrent use and therefore not `Sendable`: whoever made it owns it. Calls block;
/// what waits for the server waits in `poll(2)`, so that a deadline and a wake descriptor count.
public final class Connection {
  let connection: OpaquePointer
  /// How long the server may take to answer any one statement; nil: as long as it likes. When it has
  /// passed the connection is of no further use.
  public var answerTimeout: Duration?
  /// A descriptor that becomes readable when the caller wants to give up, also while a statement runs:
  /// the server is asked to cancel it, its error is of kind `interrupted`, and the connection is of no
  /// further use.
  public var interrupt: Int32?
  /// Whether statements may be prepared and kept. Behind a pooler that lends its sessions out for a
  /// transaction each they may not, and behind one of which that is not known.
  public var keepsStatements = true
  /// Looks at statements that the server takes long to answer.
  public var watch: StatementWatch?
  /// Why the statement under way was cancelled, if it was.
  var cancellation: PostgresError?
  /// Whether each transaction has to begin with our search path, because the session did not.
  var setsPath = false
  /// The server process that runs our statements now, as far as is known.
  var processID: Int32?
  private var prepared: [SQL: String] = [:]
  var ahead = Ahead.none
  /// How many statements have been sent ahead.
  var aheadCount = 0
  /// Notifications that have arrived and have not been taken: the first of them, which tell as much as
  /// all would. Anybody who may connect can send any number.
  private var arrived: [Notification] = []
  private static let mostNotifications = 64
  /// How many bytes the answer to the statement under way may have; nil: any number.
  private var answerLimit: Int?
  /// How many have arrived.
  private var answerBytes = 0
  /// A server that does not stop at this many times the limit is left.
  private static let answerTolerance = 8

  /// The form in which values are returned.
  public enum Format: Int32, Sendable {
    /// PostgreSQL's text representation.
    case text = 0
    /// The type's binary representation, big-endian.
    case binary = 1
  }

  /// Connects.
  ///
  /// - Parameters:
  ///   - settings: Where to.
  ///   - wake: A descriptor that becomes readable when the caller wants to give up.
  /// - Throws: `PostgresError` of kind `connection`, `timeout` or `interrupted`.
  public init(_ settings: ConnectionSettings, wake: Int32? = nil) throws(PostgresError) {
    try settings.check()
    // Not before it is open: an initialiser that throws with all properties set runs `deinit`, which
    // would close it a second time.
    connection = try Self.open(settings, wake: wake)
    try lookAtSession(settings, wake: wake)
  }

  deinit {
    if case .answered(let result) = ahead { PQclear(result) }
    PQfinish(connection)
  }

  private static func open(
    _ settings: ConnectionSettings, wake: Int32?
  ) throws(PostgresError) -> OpaquePointer {
    do throws(PostgresError) {
      return try open(settings, settings.parameters(settingPath: true), wake: wake)
    } catch {
      // PgBouncer's words; it refuses what it does not know, or, from version 1.20 on, what it does not
      // keep.
      guard error.description.contains("unsupported startup parameter") else { throw error }
      return try open(settings, settings.parameters(settingPath: false), wake: wake)
    }
  }

  private static func open(
    _ settings: ConnectionSettings, _ parameters: [(keyword: String, value: String)], wake: Int32?
  ) throws(PostgresError) -> OpaquePointer {
    var connection = try start(parameters, with: PQconnectStartParams)
    do throws(PostgresError) {
      // Only libpq's own, blocking call goes on to the next host when one is silent.
      if option("host", of: connection)?.contains(",") == true {
        let timeout = ownTimeout(connection, default: settings.connectTimeout) ?? .zero
        let several = try start(
          parameters + [("connect_timeout", "\(timeout.components.seconds)")],
          with: PQconnectdbParams)
        PQfinish(connection)
        connection = several
      } else {
        try finishConnecting(connection, timeout: settings.connectTimeout, wake: wake)
      }
      guard PQstatus(connection) == CONNECTION_OK else {
        throw PostgresError(connection: connection, doing: connecting)
      }
    } catch {
      PQfinish(connection)
      throw error
    }
    return connection
  }

  private static func finishConnecting(
    _ connection: OpaquePointer, timeout: Duration, wake: Int32?
  ) throws(PostgresError) {
    let doing = connecting
    guard PQstatus(connection) != CONNECTION_BAD else {
      throw PostgresError(connection: connection, doing: doing)
    }
    let timeout = ownTimeout(connection, default: timeout)
    // A host may have several addresses; each gets the whole time.
    var address = ""
    var deadline = timeout.map { Deadline(after: $0) }
    var wanted = Int16(POLLOUT)
    while true {
      let current = PQhostaddr(connection).map { String(cString: $0) } ?? ""
      if current != address {
        address = current
        deadline = timeout.map { Deadline(after: $0) }
      }
      let outcome = wait(PQsocket(connection), for: wanted, until: deadline, wake: wake)
      // A server may always have something to say, and never come to an end.
      switch outcome == .ready && deadline?.hasPassed == true ? .timedOut : outcome {
      case .ready: break
      case .woken: throw PostgresError(kind: .interrupted, message: "\(doing): interrupted")
      case .timedOut:
        let host = PQhost(connection).map { String(cString: $0) } ?? address
        throw PostgresError(
          kind: .timeout, message: "\(doing): no answer from host \"\(host)\"",
          hint: "Check that the server runs there and that the network lets connections through.")
      }
      switch PQconnectPoll(connection) {
      case PGRES_POLLING_READING: wanted = Int16(POLLIN)
      case PGRES_POLLING_WRITING: wanted = Int16(POLLOUT)
      case PGRES_POLLING_OK: return
      default: throw PostgresError(connection: connection, doing: doing)
      }
    }
  }

  /// The `connect_timeout` of the conninfo or the environment, which libpq obeys only in its blocking
  /// call; nil: none.
  static func ownTimeout(
    _ connection: OpaquePointer, default standard: Duration
  ) -> Duration? {
    guard let value = option("connect_timeout", of: connection), let seconds = Int(value) else {
      return standard
    }
    return seconds > 0 ? .seconds(seconds) : nil
  }

  /// What libpq has made of the conninfo and the environment for a keyword; nil: nothing.
  static func option(_ keyword: String, of connection: OpaquePointer) -> String? {
    guard let options = PQconninfo(connection) else { return nil }
    defer { PQconninfoFree(options) }
    var option = options
    while let name = option.pointee.keyword {
      if strcmp(name, keyword) == 0 { return option.pointee.val.map { String(cString: $0) } }
      option += 1
    }
    return nil
  }

  private static let connecting = "could not connect to the database"

  typealias ConnectCall = (
    UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?, Int32
  ) -> OpaquePointer?

  static func call(
    _ call: ConnectCall, with parameters: [(keyword: String, value: String)]
  ) -> OpaquePointer? {
    withCStrings(parameters.map { $0.keyword }) { keywords in
      withCStrings(parameters.map { $0.value }) { values in call(keywords, values, 1) }
    }
  }

  private static func start(
    _ parameters: [(keyword: String, value: String)], with function: ConnectCall
  ) throws(PostgresError) -> OpaquePointer {
    guard let connection = call(function, with: parameters) else {
      throw PostgresError(connection: nil, doing: connecting)
    }
    // Notices (a table that exists already, ...) are for psql's users; ours get errors. libpq would
    // print them as they come, whatever is in them.
    PQsetNoticeReceiver(connection, { _, _ in }, nil)
    return connection
  }

  // MARK: - Waiting

  /// How a wait ended.
  public enum WaitOutcome: Sendable {
    /// There is something to read (or room to write).
    case ready
    /// The deadline passed.
    case timedOut
    /// The wake descriptor became readable.
    case woken
  }

  static func wait(
    _ socket: Int32, for events: Int16, until deadline: Deadline?, wake: Int32?
  ) -> WaitOutcome {
    // A tuple, because an array would be allocated for each wait. poll(2) passes over a descriptor
    // below 0.
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
      // Interrupted by a signal whose handler did not write to the wake descriptor: go on.
    }
  }

  /// Waits until the server has sent something, as it does for a notification.
  public func wait(until deadline: Deadline, wake: Int32? = nil) -> WaitOutcome {
    Self.wait(PQsocket(connection), for: Int16(POLLIN), until: deadline, wake: wake)
  }

  /// Waits without looking at what the server sends.
  public static func pause(for duration: Duration, wake: Int32? = nil) -> WaitOutcome {
    wait(-1, for: 0, until: Deadline(after: duration), wake: wake)
  }

  /// Takes the notifications that have arrived, at most the first 64; never blocks.
  ///
  /// - Throws: `PostgresError` of kind `connection` when the connection is lost.
  public func takeNotifications() throws(PostgresError) -> [Notification] {
    guard PQconsumeInput(connection) == 1 else { throw lost() }
    collectNotifications()
    defer { arrived.removeAll() }
    return arrived
  }

  /// Drops the notifications that have arrived; never blocks.
  ///
  /// - Returns: Whether there were any.
  /// - Throws: `PostgresError` of kind `connection` when the connection is lost.
  public func dropNotifications() throws(PostgresError) -> Bool {
    try !takeNotifications().isEmpty
  }

  /// Takes the notifications that libpq has parsed out of its hands, where they would pile up.
  private func collectNotifications() {
    while let notification = PQnotifies(connection) {
      defer { PQfreemem(notification) }
      // They are no part of the answer that they came with.
      answerBytes -= strlen(notification.pointee.relname) + strlen(notification.pointee.extra)
      guard arrived.count < Self.mostNotifications else { continue }
      arrived.append(
        Notification(
          channel: String(cString: notification.pointee.relname),
          payload: String(cString: notification.pointee.extra),
          processID: notification.pointee.be_pid))
    }
  }

  // MARK: - Statements

  /// Runs one statement and returns its result.
  ///
  /// - Parameters:
  ///   - statement: The statement, with `$1`, `$2`, ... for the parameters.
  ///   - parameters: Their values.
  ///   - format: The form of the result's values.
  @discardableResult
  public func execute(
    _ statement: SQL, _ parameters: [Parameter] = [], format: Format = .text
  ) throws(PostgresError) -> QueryResult {
    try settle()
    return try inPath { () throws(PostgresError) in
      try send(statement, parameters, format)
      return try lastResult(statement.text)
    }
  }

  private func send(
    _ statement: SQL, _ parameters: [Parameter], _ format: Format, limit: Int? = nil
  ) throws(PostgresError) {
    expectAnswer(limit: limit)
    let sent = withCStrings(parameters.map(\.textForm)) { values in
      PQsendQueryParams(
        connection, statement.text, Int32(parameters.count), nil, values, nil, nil, format.rawValue)
    }
    guard sent == 1 else { throw lost() }
  }

  private func expectAnswer(limit: Int?) {
    answerLimit = limit
    answerBytes = 0
  }

  /// Runs one statement that is prepared at its first use and kept with the connection.
  ///
  /// - Parameter limit: The most bytes that the answer may have, about; nil: any number. A statement
  ///   whose answer has more is cancelled, with an error of kind `tooLarge`.
  @discardableResult
  public func executePrepared(
    _ statement: SQL, _ parameters: [Parameter] = [], format: Format = .text, limit: Int? = nil
  ) throws(PostgresError) -> QueryResult {
    try settle()
    return try inPath { () throws(PostgresError) in
      try sendPrepared(statement, parameters, format, limit: limit)
      return try lastResult(statement.text)
    }
  }

  func sendPrepared(
    _ statement: SQL, _ parameters: [Parameter], _ format: Format, limit: Int? = nil
  ) throws(PostgresError) {
    guard keepsStatements else { return try send(statement, parameters, format, limit: limit) }
    let name: String
    if let known = prepared[statement] {
      name = known
    } else {
      name = "quake_\(prepared.count + 1)"
      expectAnswer(limit: nil)
      guard PQsendPrepare(connection, name, statement.text, 0, nil) == 1 else { throw lost() }
      _ = try lastResult(statement.text)
      prepared[statement] = name
    }
    expectAnswer(limit: limit)
    let sent = withCStrings(parameters.map(\.textForm)) { values in
      PQsendQueryPrepared(
        connection, name, Int32(parameters.count), values, nil, nil, format.rawValue)
    }
    guard sent == 1 else { throw lost() }
  }

  /// Runs a script of any number of statements; stops at the first error. Outside a transaction block
  /// the whole script is one transaction.
  public func executeScript(_ script: SQL) throws(PostgresError) {
    try settle()
    _ = try inPath { () throws(PostgresError) in try runScript(script) }
  }

  func runScript(_ script: SQL) throws(PostgresError) -> QueryResult {
    expectAnswer(limit: nil)
    guard PQsendQuery(connection, script.text) == 1 else { throw lost() }
    return try lastResult(script.text, isScript: true)
  }

  /// Runs a query and hands its rows over in small results as they come, so that memory does not
  /// depend on how many there are. The connection can do nothing else meanwhile.
  ///
  /// When `body` throws, the query is cancelled and the connection stays usable.
  public func stream(
    _ statement: SQL, _ parameters: [Parameter] = [], format: Format = .binary,
    _ body: (borrowing QueryResult) throws -> Void
  ) throws {
    try settle()
    let hasBegun = try enterPath()
    do {
      try streamRows(statement, parameters, format, body)
    } catch {
      abandonPath(hasBegun)
      throw error
    }
    try leavePath(hasBegun)
  }

  private func streamRows(
    _ statement: SQL, _ parameters: [Parameter], _ format: Format,
    _ body: (borrowing QueryResult) throws -> Void
  ) throws {
    try send(statement, parameters, format)
    guard quake_pq_stream_rows(connection, Self.rowsOfPart) == 1 else { throw lost() }
    var failure: (any Error)?
    var ends = 0
    // A server that goes on sending rows after the query was cancelled is not listened to for long.
    var patience: Deadline?
    while let result = try nextResult(until: patience) {
      let status = PQresultStatus(result)
      if quake_pq_is_partial(status) != 0 {
        let rows = QueryResult(owning: result)
        guard failure == nil else {
          if patience?.hasPassed == true { break }
          continue
        }
        do {
          try body(rows)
        } catch {
          failure = error
          patience = Deadline(after: CancelHandle.patience)
          cancelHandle?.cancel(within: CancelHandle.patience)
        }
        continue
      }
      ends += 1
      if status == PGRES_TUPLES_OK, ends == 1 {
        PQclear(result)
        continue
      }
      let error =
        unexpected(result, ends)
        ?? PostgresError(
          result: result, connection: connection, statement: statement.text)
      PQclear(result)
      if failure == nil { failure = named(error) }
      if ends > Self.mostResults || Self.isCopy(status) { break }
    }
    cancellation = nil
    if let failure { throw failure }
    // Rows without their end may not be all.
    guard ends > 0 else { throw Self.confused("without an end") }
  }

  /// How many rows of a query come at a time. With the longest texts that the schema allows they take
  /// some megabytes.
  private static let rowsOfPart: Int32 = 8

  /// A server that answers a statement with more results than these does not mean to end.
  private static let mostResults = 10_000

  private static func isCopy(_ status: ExecStatusType) -> Bool {
    status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH
  }

  /// What to say of a result that no query has.
  private func unexpected(_ result: OpaquePointer, _ number: Int) -> PostgresError? {
    let status = PQresultStatus(result)
    guard Self.isCopy(status) || status == PGRES_TUPLES_OK else { return nil }
    return Self.confused(
      Self.isCopy(status) ? "with a COPY" : "with \(number) results")
  }

  /// The server does not keep to the protocol, or is none.
  private static func confused(_ how: String) -> PostgresError {
    PostgresError(
      kind: .connection, message: "the database answered a statement \(how)",
      hint: "What answers there does not behave like a PostgreSQL server.")
  }

  func lost() -> PostgresError {
    PostgresError(connection: connection, doing: "lost the connection to the database")
  }

  /// The next result of the statement under way, or nil at its end.
  ///
  /// - Parameter limit: When to give up at the latest.
  private func nextResult(until limit: Deadline? = nil) throws(PostgresError) -> OpaquePointer? {
    if PQisBusy(connection) != 0 {
      var patience = Patience(self, until: limit)
      var flood = AnswerFlood()
      repeat {
        try wait(for: Int16(POLLIN), &patience)
        try takeIn()
        try flood.check(connection, until: patience.deadline)
      } while PQisBusy(connection) != 0
    }
    return PQgetResult(connection)
  }

  /// Takes in what has arrived of the answer to the statement under way; never blocks, but to cancel a
  /// statement whose answer has become too large. libpq keeps an answer as a whole.
  func takeIn() throws(PostgresError) {
    if let answerLimit {
      answerBytes += Int(quake_pq_available(connection))
      if answerBytes > answerLimit, cancellation == nil {
        cancellation = Self.tooLarge
        cancelHandle?.cancel(within: CancelHandle.patience)
      }
      guard answerBytes <= answerLimit * Self.answerTolerance else { throw Self.tooLarge }
    }
    guard PQconsumeInput(connection) == 1 else { throw lost() }
    collectNotifications()
  }

  private static let tooLarge = PostgresError(
    kind: .tooLarge, message: "the answer of the database is too large")

  /// Reads results to the end of the statement; the last one, or the first error.
  ///
  /// - Parameters:
  ///   - first: A result of the statement that has been read already.
  ///   - isScript: Whether there may be several statements; then an error's line is told even where the
  ///     server gives no position, as for one that comes up while a statement runs.
  func lastResult(
    _ statement: String, first: OpaquePointer? = nil, isScript: Bool = false
  ) throws(PostgresError) -> QueryResult {
    var last: OpaquePointer?
    var failure: PostgresError?
    var statementsDone = 0
    var count = 0
    var isCopy = false
    var known = first
    while let result = try known == nil ? nextResult() : known {
      known = nil
      count += 1
      guard count <= (isScript ? Self.mostResults : 10), PQresultStatus(result) != PGRES_COPY_BOTH
      else {
        PQclear(result)
        PQclear(last)
        throw Self.confused(count == 1 ? "with a COPY" : "with \(count) results")
      }
      switch PQresultStatus(result) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
        statementsDone += 1
        PQclear(last)
        last = result
        continue
      case PGRES_COPY_IN:
        // Left in this state the connection would wait for data for ever.
        PQclear(last)
        last = nil
        isCopy = true
        PQputCopyEnd(connection, "COPY is run by copyIn")
      case PGRES_COPY_OUT:
        // In this state it would answer the same again and again until the data have been taken.
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
    // A server that keeps to the protocol complains of the end of the data.
    if isCopy, failure == nil { failure = Self.confused("with a COPY") }
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

  /// Has the server end a COPY to the client, and drops what comes of it.
  private func dropCopy() throws(PostgresError) {
    cancelHandle?.cancel(within: CancelHandle.patience)
    let deadline = Deadline(after: CancelHandle.patience)
    var row: UnsafeMutablePointer<CChar>?
    while true {
      let count = PQgetCopyData(connection, &row, 1)
      guard count >= 0 else { return }
      PQfreemem(row)
      row = nil
      guard !deadline.hasPassed else { throw Self.confused("with a COPY that does not end") }
      if count == 0 {
        _ = Self.wait(PQsocket(connection), for: Int16(POLLIN), until: deadline, wake: interrupt)
        guard PQconsumeInput(connection) == 1 else { throw lost() }
      }
    }
  }

  /// Runs `COPY ... FROM STDIN (FORMAT binary)` with the rows that `body` writes. When `body` throws,
  /// the COPY is aborted, nothing of it stays, and the error goes on to the caller.
  ///
  /// - Returns: How many rows the server took.
  @discardableResult
  public func copyIn(
    _ statement: SQL, _ body: (inout CopyWriter) throws -> Void
  ) throws -> Int {
    try settle()
    let hasBegun = try enterPath()
    let count: Int
    do {
      count = try copyRows(statement, body)
    } catch {
      abandonPath(hasBegun)
      throw error
    }
    try leavePath(hasBegun)
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
    // The server may stop reading, as it does while it waits for a lock: libpq itself would wait then
    // without looking at anything else.
    PQsetnonblocking(connection, 1)
    var writer = CopyWriter(connection: self)
    do {
      try body(&writer)
      try writer.finish()
    } catch {
      _ = try? endCopy(Self.abort)
      do throws(PostgresError) {
        _ = try lastResult(statement.text)
      } catch let verdict {
        // The server's own complaint is the cause if sending failed because of it; but the abort
        // just sent is not a complaint.
        if error is PostgresError, !verdict.message.contains(Self.abort) { throw verdict }
      }
      throw error
    }
    try endCopy(nil)
    return try lastResult(statement.text).affectedRows
  }

  private static let abort = "aborted by the client"

  private func endCopy(_ error: String?) throws(PostgresError) {
    // The server's own error, if there is one, comes as the result.
    let isSent = PQputCopyEnd(connection, error) == 1
    if isSent { try flush() }
    PQsetnonblocking(connection, 0)
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

  /// Sends what is left to send.
  private func flush() throws(PostgresError) {
    var left = PQflush(connection)
    guard left > 0 else { return }
    var patience = Patience(self)
    while left > 0 {
      try wait(for: Int16(POLLIN | POLLOUT), &patience)
      guard PQconsumeInput(connection) == 1 else { throw lost() }
      left = PQflush(connection)
    }
    guard left == 0 else { throw lost() }
  }

  // MARK: - Transactions

  /// How a transaction sees others.
  public enum Isolation: Sendable {
    /// Each statement sees what was committed before it.
    case readCommitted
    /// All statements see what was committed before the first.
    case repeatableRead
  }

  /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
  ///
  /// When the connection is lost during the commit, whether it took place is not known; the error
  /// says so.
  public func transaction<Value>(
    _ isolation: Isolation = .readCommitted, readOnly: Bool = false, _ body: () throws -> Value
  ) throws -> Value {
    try begin(isolation, readOnly: readOnly)
    let value: Value
    do {
      value = try body()
    } catch {
      // If this fails too the connection is gone, and with it the transaction.
      _ = try? rollback()
      throw error
    }
    try commit()
    return value
  }

  /// Begins a transaction, for one that is not the body of one function; see `transaction`.
  public func begin(
    _ isolation: Isolation = .readCommitted, readOnly: Bool = false
  ) throws(PostgresError) {
    let begin: SQL =
      switch (isolation, readOnly) {
      case (.readCommitted, false): "begin isolation level read committed read write"
      case (.readCommitted, true): "begin isolation level read committed read only"
      case (.repeatableRead, false): "begin isolation level repeatable read read write"
      case (.repeatableRead, true): "begin isolation level repeatable read read only"
      }
    guard setsPath else {
      try execute(begin)
      return
    }
    try settle()
    try beginInPath(begin)
  }

  /// Commits the transaction that is open. When it throws there is none any more; when the connection
  /// was lost, whether it was committed is not known, which the error says.
  public func commit() throws(PostgresError) {
    do throws(PostgresError) {
      // After a failed statement whose error was kept from here the server answers a commit with a
      // rollback, and with no error.
      guard try execute("commit").commandTag == "COMMIT" else {
        throw PostgresError(
          kind: .server, sqlState: SQLState.inFailedTransaction,
          message: "the transaction was rolled back because a statement in it had failed")
      }
    } catch {
      var error = error
      // What the server has refused, it has rolled back; so it has when it was told to give up.
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

  /// Undoes the transaction that is open.
  public func rollback() throws(PostgresError) {
    try execute("rollback")
  }

  // MARK: - About the connection

  /// Whether nobody else can have had the session before, as behind a pooler.
  public var hasNewSession: Bool { !setsPath }

  /// A handle that cancels the running statement from another thread.
  public var cancelHandle: CancelHandle? { CancelHandle(connection: connection) }

  /// Whether it could run a statement now: none is under way, and no transaction is open.
  public var isIdle: Bool { PQtransactionStatus(connection) == PQTRANS_IDLE }

  /// The server's version number, such as 150018.
  public var serverVersion: Int { Int(PQserverVersion(connection)) }

  /// Process id of the server process, as in `pg_stat_activity`.
  public var serverProcessID: Int32 { PQbackendPID(connection) }

  /// Database and host, for messages: `database "quake" on host "db.example.org"`.
  public var label: String {
    let database = PQdb(connection).map { String(cString: $0) } ?? ""
    let host = PQhost(connection).map { String(cString: $0) } ?? ""
    return "database \"\(database)\" on host \"\(host)\""
  }
}

/// Calls `body` with an array of C strings, nil for nil, ended by a null pointer.
private func withCStrings<Value>(
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
