/// The SQLSTATEs that our programs tell apart, with PostgreSQL's names (appendix A of its manual).
public enum SQLState {
  /// Two transactions wait for each other; the server rolled this one back.
  public static let deadlockDetected = "40P01"
  /// A serializable transaction has to be run again.
  public static let serializationFailure = "40001"
  /// `lock_timeout` has passed.
  public static let lockNotAvailable = "55P03"
  /// The statement was cancelled.
  public static let queryCanceled = "57014"
  /// A privilege is missing.
  public static let insufficientPrivilege = "42501"
  /// A row with the same key exists.
  public static let uniqueViolation = "23505"
  /// A row violates a CHECK constraint.
  public static let checkViolation = "23514"
  /// The statement uses a parameter that has no value.
  public static let undefinedParameter = "42P02"
  /// A text has a character that the server cannot store.
  public static let characterNotInRepertoire = "22021"
  /// There is no such table.
  public static let undefinedTable = "42P01"
  /// There is no such column.
  public static let undefinedColumn = "42703"
  /// There is no such function.
  public static let undefinedFunction = "42883"
  /// There is no such schema.
  public static let invalidSchemaName = "3F000"
  /// A schema of this name exists.
  public static let duplicateSchema = "42P06"
  /// A table of this name exists.
  public static let duplicateTable = "42P07"
  /// The server is read-only, perhaps a standby.
  public static let readOnlyTransaction = "25006"
  /// The transaction has failed already.
  public static let inFailedTransaction = "25P02"
  /// The server's disk is full.
  public static let diskFull = "53100"
  /// The server has no connection left.
  public static let tooManyConnections = "53300"
  /// The server is being shut down.
  public static let adminShutdown = "57P01"
  /// Another server process crashed.
  public static let crashShutdown = "57P02"
  /// The server is starting or stopping.
  public static let cannotConnectNow = "57P03"
  /// The database was dropped.
  public static let databaseDropped = "57P04"
  /// The session was idle for too long.
  public static let idleSessionTimeout = "57P05"

  /// The classes of SQLSTATEs: their first two characters.
  public enum Class {
    /// The connection was lost.
    public static let connectionException = "08"
    /// The transaction was rolled back because of others.
    public static let transactionRollback = "40"
    /// The server is short of disk, memory or connections.
    public static let insufficientResources = "53"
    /// An operator intervened, or a timeout did.
    public static let operatorIntervention = "57"
    /// The server's system failed.
    public static let systemError = "58"
  }
}
