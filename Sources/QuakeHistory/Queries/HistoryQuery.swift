public import Postgres
public import QuakeModel

/// A query of the history: its range, its filter and its order.
///
/// The query is a value; `count`, `codes` and `HistoryQueryReader` answer it. An answer holds only changes
/// that are committed when it begins.
public struct HistoryQuery: Sendable {
  /// The order of the changes.
  public enum Order: Sendable {
    /// In commit order.
    case ascending
    /// The newest first, within a transaction, too.
    case descending
  }

  /// Only changes committed after this; nil: from the oldest change that the history still holds.
  public var after: HistoryBound?
  /// Only changes committed up to this, its own transaction included; nil: up to now.
  public var upTo: HistoryBound?
  /// Only this transaction; `after` and `upTo` are ignored then.
  public var transaction: ChangeToken?
  /// Only changes that come after this one in the order of the query, as the last change of a page read before;
  /// nil: from the beginning. `count` and `codes` ignore it.
  public var afterChange: ChangePosition?
  /// Which changes; the server decides as `QuakeFilter.accepts` does.
  public var filter = QuakeFilter()
  /// The order.
  public var order = Order.ascending
  /// The greatest number of changes, codes or transactions in the answer, from 1; nil: all.
  public var limit: Int64?

  /// A query of the whole history.
  public init() {}

  /// How many changes there are.
  ///
  /// - Throws: `StoreError` of kind `token` if the history does not reach from `after` to `upTo`.
  public func count(over connection: Connection) throws -> Int64 {
    let summary = HistorySummary(
      historyQuery: self, range: try HistoryRange(self, over: connection))
    let count = try summary.count.run { statement, parameters in
      try connection.execute(statement, parameters, format: .binary).binaryInteger(0, 0) ?? 0
    }
    return min(count, limit ?? count)
  }

  /// The codes of the events with changes, each once, in the order of their bytes or, if the query is
  /// descending, in the reverse order. A truncate has no code.
  ///
  /// One statement finds them; the server keeps its snapshot until `body` has had the last.
  ///
  /// - Throws: `StoreError` of kind `token` if the history does not reach from `after` to `upTo`.
  public func codes(over connection: Connection, _ body: (String) throws -> Void) throws {
    let summary = HistorySummary(
      historyQuery: self, range: try HistoryRange(self, over: connection))
    try summary.codes.run { statement, parameters in
      try connection.stream(statement, parameters) { rows in
        for row in 0..<rows.rowCount {
          if let code = rows.text(row, 0) { try body(code) }
        }
      }
    }
  }
}
