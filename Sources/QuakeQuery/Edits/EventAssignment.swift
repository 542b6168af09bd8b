internal import Postgres
public import QuakeModel

/// A value for a column of events, checked against the limits of the table.
public struct EventAssignment: Sendable {
  /// The column.
  public let column: QuakeColumn
  /// The value in PostgreSQL's text form; nil: null.
  let value: String?

  /// The columns that an edit may set: all except the code, by which the history finds the event, and those
  /// that say when the row was stored and which snapshot wrote it.
  public static let columns = QuakeColumn.allCases.filter {
    ![.code, .asOf, .firstStored].contains($0)
  }

  /// The columns that are never null.
  private static let required: [QuakeColumn] = [.source, .time, .validated]

  /// A value from its text; an empty text is null.
  ///
  /// - Throws: `InvalidEdit` if the column cannot be set, or cannot hold the value.
  public init(_ column: QuakeColumn, text: String) throws(InvalidEdit) {
    guard Self.columns.contains(column) else {
      throw InvalidEdit(
        "cannot set column \"\(column.name)\"",
        hint: "The columns that can be set: \(Self.columns.map(\.name).joined(separator: ", ")).")
    }
    self.column = column
    guard !text.isEmpty else {
      guard !Self.required.contains(column) else {
        throw InvalidEdit("column \"\(column.name)\" cannot be empty")
      }
      value = nil
      return
    }
    value = try Self.value(text, of: column)
  }

  private static func value(
    _ text: String, of column: QuakeColumn
  ) throws(InvalidEdit) -> String {
    switch column.kind {
    case .text:
      let most = mostBytes(of: column)
      guard text.utf8.count <= most, !text.utf8.contains(0) else {
        throw invalid(text, column, "a text of at most \(most) bytes without the character NUL")
      }
      if column == .type, let word = EventTypes.word(for: text) { return "\(word)" }
      return text
    case .float8:
      let range = range(of: column)
      guard text.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }),
        let number = Double(text), range.contains(number)
      else {
        let limits =
          range.upperBound < .greatestFiniteMagnitude
          ? " from \(Int(range.lowerBound)) to \(Int(range.upperBound))" : ""
        throw invalid(text, column, "a number\(limits)")
      }
      return "\(number)"
    case .int4:
      guard let number = Int32(text) else { throw invalid(text, column, "a whole number") }
      return "\(number)"
    case .int2:
      guard let number = Int16(text) else {
        throw invalid(text, column, "a whole number from -32768 to 32767")
      }
      return "\(number)"
    case .timestamp:
      guard let time = Timestamp(iso8601: text), time >= .earliest, time <= .latest else {
        throw invalid(text, column, "a time in UTC such as 2026-01-31T12:00:00Z")
      }
      return "\(time)"
    case .bool:
      switch text.lowercased() {
      case "true", "t", "yes", "on", "1": return "true"
      case "false", "f", "no", "off", "0": return "false"
      default: throw invalid(text, column, "true or false")
      }
    }
  }

  private static func invalid(
    _ text: String, _ column: QuakeColumn, _ expected: String
  ) -> InvalidEdit {
    InvalidEdit(
      "invalid value '\(text.prefix(200))' for column \"\(column.name)\": expected \(expected)")
  }

  private static func mostBytes(of column: QuakeColumn) -> Int {
    switch column {
    case .place, .title, .url, .detail, .ids, .sources, .types: 65_536
    default: 1024
    }
  }

  private static func range(of column: QuakeColumn) -> ClosedRange<Double> {
    switch column {
    case .magnitude: -10...12
    case .longitude: -180...180
    case .latitude: -90...90
    case .depth: -100...7000
    default: -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    }
  }

  /// The parameter for the value.
  var parameter: Parameter { .text(value) }

  /// The column's type in SQL.
  var type: String { column.kind.sqlName }
}
