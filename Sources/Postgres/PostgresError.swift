public import Basics
internal import CLibpq
internal import Glibc

/// A failure between this program and PostgreSQL, with the parts of the server's message.
///
/// Values of parameters are not in it; the server's message may name one, as it does for a violated
/// unique constraint.
public struct PostgresError: ExplainedError, Sendable {
  /// Where an error comes from.
  public enum Kind: Sendable {
    /// No connection could be made, or it was lost.
    case connection
    /// The server did not answer in the time it was given.
    case timeout
    /// The server refused or failed a statement; `sqlState` says which way.
    case server
    case interrupted
    /// The answer had more bytes than the caller allowed; the statement was cancelled.
    case tooLarge
    /// The result has not the rows, the columns or the types that the program expects.
    case unreadable
  }

  /// Where the error comes from.
  public var kind: Kind
  /// Five characters of SQLSTATE; empty if the server reported none.
  public var sqlState: String
  /// What failed, in a few words, lower case, without a full stop.
  public var message: String
  /// More about it, in sentences.
  public var detail: String?
  /// What to do about it, in sentences.
  public var hint: String?
  /// The functions it happened in.
  public var context: String?
  /// The constraint that was violated, where one was.
  public var constraint: String?
  /// The table it is about, with its schema, where there is one.
  public var table: String?
  /// The statement, as it was sent, without the values of its parameters; nil where the error is of no
  /// statement. Its beginning, where it is longer than 16 KiB.
  public var statement: String?
  /// The error's place in the statement, in characters from 1; nil if the server reports none.
  public var position: Int?
  /// The line of the statement that `position` is in, from 1.
  package var line: Int?

  package init(
    kind: Kind, sqlState: String = "", message: String, detail: String? = nil, hint: String? = nil
  ) {
    self.kind = kind
    self.sqlState = sqlState
    self.message = message
    self.detail = detail
    self.hint = hint
  }

  /// Whether the connection is gone, or could not be opened because the server is starting, stopping or
  /// full: connecting again later may help.
  package var isConnectionLoss: Bool {
    switch kind {
    case .connection, .timeout: true
    case .interrupted, .tooLarge, .unreadable: false
    case .server:
      [
        SQLState.adminShutdown, SQLState.crashShutdown, SQLState.cannotConnectNow,
        SQLState.idleSessionTimeout, SQLState.tooManyConnections,
      ].contains(sqlState) || sqlState.hasPrefix(SQLState.Class.connectionException)
    }
  }

  /// Whether a retry may succeed: the connection is gone, the server lacks resources (class 53) or
  /// failed itself (58), or the statement was cancelled or timed out (57), was rolled back because of
  /// others (40), such as a standby's replay, or waited too long for a lock (55P03).
  public var isTransient: Bool {
    isConnectionLoss
      || (kind == .server
        && (Self.transientClasses.contains(String(sqlState.prefix(2)))
          || sqlState == SQLState.lockNotAvailable))
  }

  private static let transientClasses: Set = [
    SQLState.Class.transactionRollback, SQLState.Class.insufficientResources,
    SQLState.Class.operatorIntervention, SQLState.Class.systemError,
  ]

  /// What a caller can do about it.
  public var category: ErrorCategory {
    switch kind {
    case .connection, .timeout: .unavailable
    // Told to stop while another session held a lock.
    case .interrupted: sqlState == SQLState.queryCanceled ? .tryLater : .interrupted
    case .tooLarge, .unreadable: .failed
    case .server: serverCategory
    }
  }

  private var serverCategory: ErrorCategory {
    switch sqlState {
    case SQLState.insufficientPrivilege, SQLState.readOnlyTransaction: .notAllowed
    case SQLState.undefinedTable, SQLState.undefinedColumn, SQLState.undefinedFunction,
      SQLState.invalidSchemaName:
      .schema
    case SQLState.lockNotAvailable, SQLState.serializationFailure, SQLState.deadlockDetected:
      .tryLater
    case _ where sqlState.hasPrefix(SQLState.Class.insufficientResources): .unavailable
    case SQLState.adminShutdown, SQLState.crashShutdown, SQLState.cannotConnectNow,
      SQLState.databaseDropped, SQLState.idleSessionTimeout:
      .unavailable
    default: .failed
    }
  }
}

extension PostgresError {
  /// The message, and what else is known of it, on lines of their own.
  public var description: String {
    var text = message
    if !sqlState.isEmpty { text += " (SQLSTATE \(sqlState))" }
    if let line { text += ", line \(line)" }
    if let detail { text += "\ndetail: \(detail)" }
    if let hint { text += "\nhint: \(hint)" }
    return text
  }
}

extension PostgresError {
  /// The error a result carries.
  init(result: OpaquePointer, connection: OpaquePointer, statement: String) {
    func field(_ code: Int) -> String? { Self.field(code, of: result) }
    let sqlState = field(quake_pq_sqlstate) ?? ""
    let lost = PQstatus(connection) != CONNECTION_OK
    self.init(
      kind: lost ? .connection : .server,
      sqlState: sqlState,
      message: field(quake_pq_message)
        ?? Self.firstLine(PQresultErrorMessage(result).map { Self.text($0) } ?? ""),
      detail: field(quake_pq_detail),
      hint: field(quake_pq_hint))
    self = caused(by: statement)
    context = field(quake_pq_context)
    constraint = field(quake_pq_constraint)
    if let name = field(quake_pq_table) {
      table = field(quake_pq_schema).map { "\($0).\(name)" } ?? name
    }
    if let text = field(quake_pq_position), let position = Int(text), position > 0 {
      self.position = position
      line = 1 + statement.unicodeScalars.prefix(position - 1).count { $0 == "\n" }
    }
  }

  /// A part of an error or of a notice; nil if it has none.
  static func field(_ code: Int, of result: OpaquePointer) -> String? {
    PQresultErrorField(result, Int32(code)).map { Self.text($0) }
  }

  /// The error with the statement during which it happened.
  func caused(by statement: String) -> PostgresError {
    var error = self
    error.statement = error.statement ?? String(statement.prefix(Self.longest))
    return error
  }

  /// The error a connection is in.
  init(connection: OpaquePointer?, doing: String) {
    let text =
      connection.flatMap { PQerrorMessage($0) }.map { Self.text($0) } ?? "out of memory"
    self.init(
      kind: .connection, message: "\(doing): \(Self.firstLine(text))",
      detail: Self.otherLines(text))
  }

  /// Each part of an error is cut after this number of bytes.
  private static let longest = 16 * 1024

  /// The text that libpq holds, or its beginning: a server may send a text of any length.
  private static func text(_ pointer: UnsafePointer<CChar>) -> String {
    let length = strnlen(pointer, longest + 1)
    let bytes = UnsafeRawBufferPointer(start: pointer, count: min(length, longest))
    return String(decoding: bytes, as: UTF8.self) + (length > longest ? "…" : "")
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { line in
      String(line.drop { $0 == " " || $0 == "\t" })
    }.filter { !$0.isEmpty }
  }

  private static func firstLine(_ text: String) -> String {
    lines(text).first ?? "the server closed the connection without an error message"
  }

  private static func otherLines(_ text: String) -> String? {
    let rest = lines(text).dropFirst()
    return rest.isEmpty ? nil : rest.joined(separator: " ")
  }
}

/// The SQLSTATEs that our programs tell apart, with PostgreSQL's names (appendix A of its manual).
package enum SQLState {
  /// Two transactions wait for each other; the server rolled this one back.
  package static let deadlockDetected = "40P01"
  /// A serializable transaction has to be run again.
  package static let serializationFailure = "40001"
  /// `lock_timeout` has passed.
  package static let lockNotAvailable = "55P03"
  package static let queryCanceled = "57014"
  package static let insufficientPrivilege = "42501"
  package static let uniqueViolation = "23505"
  package static let checkViolation = "23514"
  /// A text has a character that the server cannot store.
  package static let characterNotInRepertoire = "22021"
  package static let undefinedTable = "42P01"
  package static let undefinedColumn = "42703"
  package static let undefinedFunction = "42883"
  /// There is no such schema.
  package static let invalidSchemaName = "3F000"
  package static let duplicateSchema = "42P06"
  package static let duplicateTable = "42P07"
  /// The server is read-only, perhaps a standby.
  package static let readOnlyTransaction = "25006"
  /// The server cannot do that, or not in its state.
  package static let featureNotSupported = "0A000"
  package static let inFailedTransaction = "25P02"
  package static let diskFull = "53100"
  package static let tooManyConnections = "53300"
  package static let adminShutdown = "57P01"
  /// Another server process crashed.
  package static let crashShutdown = "57P02"
  /// The server is starting or stopping.
  package static let cannotConnectNow = "57P03"
  package static let databaseDropped = "57P04"
  /// The session was idle for too long.
  package static let idleSessionTimeout = "57P05"

  /// The classes of SQLSTATEs: their first two characters.
  package enum Class {
    package static let connectionException = "08"
    /// The transaction was rolled back because of others.
    package static let transactionRollback = "40"
    /// The server is short of disk, memory or connections.
    package static let insufficientResources = "53"
    /// An operator intervened, or a timeout did.
    package static let operatorIntervention = "57"
    package static let systemError = "58"
  }
}
