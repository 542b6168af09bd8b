/// The SQLSTATEs that our programs tell apart, with PostgreSQL's names (appendix A of its manual).
package enum SQLState {
  /// Two transactions wait for each other; the server rolled this one back.
  package static let deadlockDetected = "40P01"
  /// A serializable transaction has to be run again.
  package static let serializationFailure = "40001"
  /// `lock_timeout` has passed.
  package static let lockNotAvailable = "55P03"
  package static let queryCanceled = "57014"
  /// A privilege is missing.
  package static let insufficientPrivilege = "42501"
  /// A row with the same key exists.
  package static let uniqueViolation = "23505"
  /// A row violates a CHECK constraint.
  package static let checkViolation = "23514"
  /// A text has a character that the server cannot store.
  package static let characterNotInRepertoire = "22021"
  /// There is no such table.
  package static let undefinedTable = "42P01"
  /// There is no such column.
  package static let undefinedColumn = "42703"
  /// There is no such function.
  package static let undefinedFunction = "42883"
  /// There is no such schema.
  package static let invalidSchemaName = "3F000"
  /// A schema of this name exists.
  package static let duplicateSchema = "42P06"
  /// A table of this name exists.
  package static let duplicateTable = "42P07"
  /// The server is read-only, perhaps a standby.
  package static let readOnlyTransaction = "25006"
  /// The transaction has failed already.
  package static let inFailedTransaction = "25P02"
  /// The server's disk is full.
  package static let diskFull = "53100"
  /// The server has no connection left.
  package static let tooManyConnections = "53300"
  /// The server is being shut down.
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
    /// The connection was lost.
    package static let connectionException = "08"
    /// The transaction was rolled back because of others.
    package static let transactionRollback = "40"
    /// The server is short of disk, memory or connections.
    package static let insufficientResources = "53"
    /// An operator intervened, or a timeout did.
    package static let operatorIntervention = "57"
    /// The server's system failed.
    package static let systemError = "58"
  }
}
