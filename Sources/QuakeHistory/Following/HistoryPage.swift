internal import Postgres
internal import QuakeModel

/// The statement that reads a page of what a request asks for.
///
/// It comes in two forms. One walks through the transactions, each one's versions through their
/// primary key, and through no more than `scanned` of them at a time, so that it ends soon however
/// few of them pass. The other, for a few events, goes through the index on their codes and merges
/// what it finds there.
struct HistoryPage {
  /// How large a page may be.
  struct Limits {
    /// Rows in a page.
    var rows = 500
    /// Bytes in a page. One that would have more is given up for a smaller one.
    var bytes = 2 << 20
    /// Rows in a smaller one: with the longest texts that the schema allows, a megabyte each.
    var smallRows = 2
    /// Versions that are looked at for a page.
    var scanned = 10_000
    /// With more codes than this it is better to walk through the transactions.
    var codes = 50
  }

  /// Where the position of a change is, among the columns; in the form by codes, the distance from
  /// the change before it.
  static let position = ChangeRow.end
  /// Where it says that the page ends because enough was looked at.
  static let isEdge = ChangeRow.end + 1
  /// Where it says whether the change passes; the one at the edge comes even if it does not.
  static let passes = ChangeRow.end + 2

  /// The statement.
  let statement: SQL
  /// How many rows a full page has.
  let rows: Int
  /// The codes, for the form by codes.
  let codes: [String]?
  private let conditions: HistoryConditions
  private let range: HistoryRange
  private let isAscending: Bool

  init(_ request: HistoryQuery, _ range: HistoryRange, limits: Limits) {
    self.range = range
    isAscending = request.order == .ascending
    rows = Int(min(Int64(limits.rows), request.limit ?? .max))
    let codes = request.filter.codes.map { $0.filter { !$0.utf8.contains(0) }.sorted() }
    if let codes, codes.count <= limits.codes {
      self.codes = codes
      // Each code is looked for by itself.
      var filter = request.filter
      filter.codes = nil
      conditions = HistoryConditions(filter, firstParameter: 7)
    } else {
      self.codes = nil
      conditions = HistoryConditions(request.filter, firstParameter: 6)
    }
    let sql = HistoryPageSQL(
      conditions: conditions, isAscending: isAscending, rows: rows, scanned: limits.scanned)
    statement = SQL(trusted: self.codes == nil ? sql.walk : sql.merge)
  }

  /// Where to begin.
  var beginning: HistoryQueryCursor {
    isAscending
      ? HistoryQueryCursor(needed: range.after, transaction: (range.after ?? 0) + 1, version: 0)
      : HistoryQueryCursor(needed: range.after, transaction: range.upTo, version: .max)
  }

  /// The parameters of the statement for what comes after a place.
  func parameters(after place: HistoryQueryCursor) -> [Parameter] {
    let start: [Parameter] = [
      .integer(place.needed), .integer(range.upTo), .integer(place.transaction),
      .integer(place.version),
    ]
    guard let codes else { return start + [.integer(place.position)] + conditions.parameters }
    let edge: Int64 = isAscending ? 0 : .max
    let versions = codes.map { place.versions[$0] ?? edge } + [place.truncate ?? edge]
    return start + [.array(codes), .array(versions)] + conditions.parameters
  }
}
