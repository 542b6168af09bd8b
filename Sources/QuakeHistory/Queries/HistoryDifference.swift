public import Postgres
public import QuakeModel

/// The net changes from one point of the history to another.
public enum HistoryDifference {
  /// Reads the difference of each event that is not the same at both points, by code. From a later point to
  /// an earlier one, the differences would undo the changes in between. Until `body` has had the last, the
  /// server keeps the snapshot of the beginning.
  ///
  /// - Parameters:
  ///   - start: The first point.
  ///   - end: The second point; nil: now.
  ///   - body: Gets each event's difference.
  /// - Throws: `StoreError` of kind `token` if a point is not in this history, or no longer.
  public static func read(
    from start: HistoryBound, to end: HistoryBound? = nil, over connection: Connection,
    _ body: (EventDifference) throws -> Void
  ) throws {
    let from = try start.resolve(over: connection)
    let to = try end?.resolve(over: connection) ?? HistoryReader.latestToken(over: connection)
    do {
      try connection.stream(statement, [.text("\(from)"), .text("\(to)")]) { rows in
        for row in 0..<rows.rowCount { try body(try difference(rows, row)) }
      }
    } catch let error as PostgresError {
      throw StoreError(token: error) ?? error
    }
  }

  private static func difference(
    _ rows: borrowing QueryResult, _ row: Int
  ) throws -> EventDifference {
    guard let op = rows.text(row, 0).flatMap({ ChangeOperation(rawValue: $0) }),
      let code = rows.text(row, 1)
    else {
      throw StoreError(.inconsistent, "the history holds an operation that is not known")
    }
    let columns = QuakeColumn.allCases.count
    return EventDifference(
      op: op, code: code, changed: rows.binaryTextArray(row, 2) ?? [],
      old: op == .insert ? nil : try rows.record(row, firstColumn: 3),
      new: op == .delete ? nil : try rows.record(row, firstColumn: 3 + columns))
  }

  private static let statement = SQL(
    trusted: """
      select d.op, d.code, d.changed, \(QuakeColumn.list(of: "(d.old)")),
             \(QuakeColumn.list(of: "(d.new)"))
        from quake.difference($1, $2) with ordinality d order by d.ordinality
      """)
}
