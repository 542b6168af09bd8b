internal import Postgres
internal import QuakeModel

/// The statement that reads a page of the answer to a query.
///
/// It has two forms. One walks through the transactions and reads the versions of each through their
/// primary key. It looks at no more than `scanned` versions at a time, so that it ends soon however few of
/// them pass. The other, for a few events, reads the index on their codes and merges the results.
struct HistoryPage {
  /// The limits of a page.
  struct Limits {
    /// Rows in a page.
    var rows = 500
    /// Bytes in a page. If a page has more, a smaller one is read instead.
    var bytes = 2 << 20
    /// Rows in a smaller one: with the longest texts that the schema allows, a megabyte each.
    var smallRows = 2
    /// Versions that the server examines for a page.
    var scanned = 10_000
    /// With more codes than this, walking through the transactions is quicker.
    var codes = 50
  }

  /// The column with the position of a change; in the form by codes, with its distance from the change
  /// before it.
  static let position = ChangeDecoder.columns.end
  /// The column that says whether the page ends here because the limit `scanned` is reached.
  static let isEdge = position + 1
  /// The column that says whether the change passes; the last version of a page is returned even if not.
  static let passes = position + 2

  /// The statement.
  let statement: SQL
  /// How many rows a full page has.
  let rows: Int
  /// The codes, for the form by codes.
  let codes: [String]?
  private let conditions: HistoryConditions
  private let range: HistoryRange
  private let isAscending: Bool

  init(_ query: HistoryQuery, _ range: HistoryRange, limits: Limits) {
    self.range = range
    isAscending = query.order == .ascending
    rows = Int(min(Int64(limits.rows), query.limit ?? .max))
    let codes = query.filter.codes.map { $0.filter { !$0.utf8.contains(0) }.sorted() }
    if let codes, codes.count <= limits.codes {
      self.codes = codes
      // The statement searches for each code by itself.
      var filter = query.filter
      filter.codes = nil
      conditions = HistoryConditions(filter, firstParameter: 7)
    } else {
      self.codes = nil
      conditions = HistoryConditions(query.filter, firstParameter: 6, ofTransaction: "v")
    }
    let sql = HistoryPageSQL(
      conditions: conditions, isAscending: isAscending, rows: rows, scanned: limits.scanned)
    statement = SQL(trusted: self.codes == nil ? sql.walk : sql.merge)
  }

  /// The cursor at which to begin.
  var beginning: HistoryQueryCursor {
    isAscending
      ? HistoryQueryCursor(needed: range.after, transaction: (range.after ?? 0) + 1, version: 0)
      : HistoryQueryCursor(needed: range.after, transaction: range.upTo, version: .max)
  }

  /// The statement's parameters for the page after a cursor.
  func parameters(after cursor: HistoryQueryCursor) -> [Parameter] {
    let start: [Parameter] = [
      .integer(cursor.needed), .integer(range.upTo), .integer(cursor.transaction),
      .integer(cursor.version),
    ]
    guard let codes else { return start + [.integer(cursor.position)] + conditions.parameters }
    let edge: Int64 = isAscending ? 0 : .max
    let versions = codes.map { cursor.versions[$0] ?? edge } + [cursor.truncate ?? edge]
    return start + [.array(codes), .array(versions)] + conditions.parameters
  }
}
