import QuakeClient
import QuakeModel

/// The source from which a `Delivery` reads the history: a database, or a server of `quake-serve`.
protocol ChangeSource: AnyObject {
  /// How far the history has been handed over; nil before `begin`.
  var cursor: HistoryCursor? { get }

  /// Begins after `cursor`.
  ///
  /// - Throws: `StoreError` of kind `token` if the cursor is not one of this history.
  func begin(after cursor: HistoryCursor) throws
  /// Resumes at its cursor, over another connection.
  ///
  /// - Throws: `StoreError` of kind `token` if this history is not the one that was read before.
  func resume() throws

  /// The cursor at which the history ends now.
  func newestCursor() throws -> HistoryCursor
  /// The token of the last transaction committed by a time.
  func token(at time: Timestamp) throws -> ChangeToken
  /// The token before the oldest change that is still held.
  func oldestToken() throws -> ChangeToken
  /// Makes sure that a token is one of this history.
  ///
  /// - Throws: `StoreError` of kind `token` if it is not, or no longer.
  func verify(_ token: ChangeToken) throws

  /// Reads the present list of events: its token first, then each event.
  func readSnapshot(
    begin: (ChangeToken) throws -> Void, _ body: (QuakeRecord) throws -> Void) throws
  /// Reads some changes, in commit order. When `body` throws, the history counts as read up to the change
  /// before.
  ///
  /// - Returns: Whether there are no more at the moment.
  func readPage(_ body: (Change) throws -> Void) throws -> Bool
}

extension ServerFollower: ChangeSource {}
