internal import Postgres
public import QuakeModel

/// A sort descriptor of a query: a column and a direction. Events without a value in the column come last in
/// both directions.
public struct EventOrder: Sendable, Hashable {
  /// A direction.
  public enum Direction: String, Sendable {
    /// Smallest or earliest first.
    case ascending = "asc"
    /// Greatest or latest first.
    case descending = "desc"
  }

  /// The column.
  public var column: EventColumn
  /// The direction.
  public var direction: Direction

  /// An order by the values of a column. Texts are in the order of the database's collation.
  public init(_ column: EventColumn, _ direction: Direction = .ascending) {
    self.column = column
    self.direction = direction
  }

  /// Newest origin time first.
  public static let newestFirst = EventOrder(.time, .descending)
  /// Greatest magnitude first.
  public static let greatestFirst = EventOrder(.magnitude, .descending)

  /// Reads `magnitude`, `magnitude:asc`, `magnitude:desc`, or `-magnitude`, which is descending too; nil if
  /// the text has another form or names no column.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = parts.first else { return nil }
    let isNegative = name.hasPrefix("-")
    guard let column = EventColumn(name: isNegative ? name.dropFirst() : name) else { return nil }
    self.init(column, isNegative ? .descending : .ascending)
    if parts.count == 2 {
      guard !isNegative, let direction = Direction(rawValue: String(parts[1])) else { return nil }
      self.direction = direction
    }
  }

  /// These orders one after the other, each column once, ended by the code: then no two events are equal.
  package static func total(_ orders: [EventOrder]) -> [EventOrder] {
    var total: [EventOrder] = []
    for order in orders + [EventOrder(.code)]
    where !total.contains(where: { $0.column == order.column }) {
      total.append(order)
      if order.column == .code { break }
    }
    return total
  }

  /// The expression for `order by`. The index on a column that is never null has no nulls to put last.
  func clause(alias: SQL) -> SQL {
    let direction: SQL = direction == .descending ? " desc" : ""
    let nulls: SQL = column.isNeverNull ? "" : " nulls last"
    return "\(sql: alias).\(identifier: column.name)\(sql: direction)\(sql: nulls)"
  }
}

extension EventOrder: CustomStringConvertible {
  /// The form that `init(_:)` reads: `magnitude:desc`.
  public var description: String { "\(column.name):\(direction.rawValue)" }
}

extension EventColumn {
  /// Whether every event has a value in it.
  var isNeverNull: Bool {
    switch self {
    case .code, .source, .time, .validated: true
    default: false
    }
  }

  /// The type of a parameter that is compared with the column. Integers are always sent as eight bytes.
  var parameterType: SQL {
    switch kind {
    case .text: "text"
    case .float8: "float8"
    case .int4, .int2: "int8"
    case .timestamp: "timestamptz"
    case .bool: "bool"
    }
  }
}

extension EventOrder: Codable {
  /// Reads an order's text.
  public init(from decoder: any Decoder) throws { self = try decoder.value { EventOrder($0) } }

  /// Writes the order's text.
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: self) }
}
