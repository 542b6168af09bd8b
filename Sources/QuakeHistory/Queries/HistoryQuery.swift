public import Postgres
public import QuakeModel

/// What is asked of the history: which part of it, what of that, in which order.
///
/// The request is a value; `count`, `codes` and `HistoryQueryReader` answer it. Only what is
/// committed when the answer begins is part of it.
public struct HistoryQuery: Sendable {
  /// In which order the changes come.
  public enum Order: Sendable {
    /// In commit order.
    case ascending
    /// The newest first, within a transaction too.
    case descending
  }

  /// Only what was committed after this; nil: from the oldest change that the history still holds.
  public var after: HistoryBound?
  /// Only what was committed up to this, its own transaction included; nil: up to now.
  public var upTo: HistoryBound?
  /// Only this transaction; `after` and `upTo` count for nothing then.
  public var transaction: ChangeToken?
  /// Which changes; as `QuakeFilter.accepts` decides, but on the server.
  public var filter = QuakeFilter()
  /// In which order.
  public var order = Order.ascending
  /// At most so many: of the changes, or of whatever else is asked for; from 1; nil: all.
  public var limit: Int64?

  /// A request for the whole history.
  public init() {}

  /// How many changes there are.
  ///
  /// - Throws: `StoreError` of kind `token` if the history does not reach from `after` to `upTo`.
  public func count(over connection: Connection) throws -> Int64 {
    let summary = HistorySummary(request: self, range: try HistoryRange(self, over: connection))
    let count = try summary.count.run { statement, parameters in
      try connection.execute(statement, parameters, format: .binary).binaryInteger(0, 0) ?? 0
    }
    return min(count, limit ?? count)
  }

  /// The codes of the events that there are changes of, each once, in the order of their bytes or, if
  /// the request is descending, the other way round. A truncate has no code.
  ///
  /// One statement finds them; its snapshot is kept until `body` has had the last.
  ///
  /// - Throws: `StoreError` of kind `token` if the history does not reach from `after` to `upTo`.
  public func codes(over connection: Connection, _ body: (String) throws -> Void) throws {
    let summary = HistorySummary(request: self, range: try HistoryRange(self, over: connection))
    try summary.codes.run { statement, parameters in
      try connection.stream(statement, parameters) { rows in
        for row in 0..<rows.rowCount {
          if let code = rows.text(row, 0) { try body(code) }
        }
      }
    }
  }
}
