internal import Postgres
public import QuakeModel

/// A value for a column of events, checked against the limits of the table.
public struct EventAssignment: Hashable, Sendable {
  /// The column.
  public let column: EventColumn
  /// The value in PostgreSQL's text form; nil: null.
  let value: String?

  /// The columns that an edit may set: all except the code, by which the history finds the event, and those
  /// that say when the row was stored and which snapshot wrote it.
  public static let columns = EventColumn.allCases.filter {
    ![.code, .asOf, .firstStored].contains($0)
  }

  /// The columns that are never null.
  private static let required: [EventColumn] = [.source, .time, .validated]

  /// A value from its text; an empty text is null.
  ///
  /// - Throws: `StoreError` of kind `usage` if the column cannot be set, or cannot hold the value.
  public init(_ column: EventColumn, text: String) throws(StoreError) {
    guard Self.columns.contains(column) else {
      throw StoreError(
        .usage, "cannot set column \"\(column.name)\"",
        hint: "The columns that can be set: \(Self.columns.map(\.name).joined(separator: ", ")).")
    }
    self.column = column
    guard !text.isEmpty else {
      guard !Self.required.contains(column) else {
        throw StoreError(.usage, "column \"\(column.name)\" cannot be empty")
      }
      value = nil
      return
    }
    value = try Self.value(text, of: column)
  }

  private static func value(
    _ text: String, of column: EventColumn
  ) throws(StoreError) -> String {
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
    _ text: String, _ column: EventColumn, _ expected: String
  ) -> StoreError {
    StoreError(
      .usage,
      "invalid value '\(text.prefix(200))' for column \"\(column.name)\": expected \(expected)")
  }

  private static func mostBytes(of column: EventColumn) -> Int {
    switch column {
    case .place, .title, .url, .detail, .ids, .sources, .types: 65_536
    default: 1024
    }
  }

  private static func range(of column: EventColumn) -> ClosedRange<Double> {
    switch column {
    case .magnitude: -10...12
    case .longitude: -180...180
    case .latitude: -90...90
    case .depth: -100...7000
    default: -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    }
  }

  /// The value, of the column's type.
  var sql: SQL { "\(value)::\(sql: SQL(trusted: column.kind.sqlName))" }
}

/// Refuses assignments that the table would refuse for some of the events, before anything is written. The
/// server's own error would show the whole row instead of the reason.
enum AssignmentCheck {
  /// - Throws: `StoreError` of kind `usage` if an event would have one coordinate only, or would supersede itself;
  ///   of kind `badData` if there is no event that is to supersede others, or if one of them has
  ///   superseded it; `PostgresError`.
  static func run(_ edit: EventEdit, over connection: Connection) throws {
    guard case .set(let assignments) = edit.action else { return }
    try checkEpicentre(assignments, of: edit, over: connection)
    try checkSuccessor(assignments, of: edit, over: connection)
  }

  private static func checkEpicentre(
    _ assignments: [EventAssignment], of edit: EventEdit, over connection: Connection
  ) throws {
    let set = assignments.filter { [.longitude, .latitude].contains($0.column) }
    guard let first = set.first else { return }
    let hint = "An event has both coordinates or none: set longitude and latitude together."
    guard set.count == 1 else {
      guard Set(set.map { $0.value == nil }).count == 1 else {
        throw StoreError(
          .usage, "cannot set one of longitude and latitude, and remove the other", hint: hint)
      }
      return
    }
    let other = first.column == .longitude ? EventColumn.latitude : .longitude
    let removes = first.value == nil
    let found = try events(
      of: edit, over: connection,
      where: "v.\(identifier: other.name) is \(sql: removes ? "not null" : "null")")
    guard let code = found.first else { return }
    let verb = removes ? "remove" : "set"
    let state = "\(removes ? "a" : "no") \(other.name)"
    throw StoreError(
      .usage,
      "cannot \(verb) \(first.column.name) alone: "
        + (found.count == 1
          ? "event \"\(code)\" has \(state)"
          : "\(found.count) events have \(state), such as \"\(code)\""),
      hint: hint)
  }

  private static func checkSuccessor(
    _ assignments: [EventAssignment], of edit: EventEdit, over connection: Connection
  ) throws {
    guard let assignment = assignments.first(where: { $0.column == .supersededBy }),
      let successor = assignment.value
    else { return }
    let isKnown = try connection.row(
      "select exists (select from quake.quake q where q.code = \(successor))", as: Bool.self)
    guard isKnown else {
      throw StoreError(
        .badData, "cannot set superseded_by: there is no event \"\(successor)\"",
        hint:
          "Name the code of a stored event. The SQL function quake.find finds it by any of its ids."
      )
    }
    let itself = try events(of: edit, over: connection, where: "v.code = \(successor)")
    guard itself.first == nil else {
      throw StoreError(
        .usage, "cannot set superseded_by: event \"\(successor)\" would supersede itself",
        hint: "Leave it out of the selection.")
    }
    // The events that the successor leads to: none of them may lead to it. A person overrules an association, which is then
    // dissolved.
    let circle = try events(
      of: edit, over: connection,
      where: """
        v.code in (
          with recursive chain (code) as (
            select \(successor)::text
             union
            select t.superseded_by from chain c join quake.quake t on t.code = c.code
             where t.superseded_by is not null
               and not exists (select from quake.association n
                                where n.code = t.code and n.preferred = t.superseded_by)
          )
          select c.code from chain c)
        """)
    guard let code = circle.first else { return }
    throw StoreError(
      .badData,
      "cannot set superseded_by: event \"\(successor)\" is itself superseded by \"\(code)\"",
      hint: "Leave \"\(code)\" out, or first remove the superseded_by of \"\(successor)\".")
  }

  /// The number of events of an edit, alias `v`, that meet a condition, and the code of the first.
  private static func events(
    of edit: EventEdit, over connection: Connection, where condition: SQL
  ) throws -> (count: Int64, first: String?) {
    let selection = EditConditions(edit).text
    let limit: SQL = edit.selection.limit.map { "\(sql: BatchEdit.order) limit \($0)" } ?? ""
    return try connection.row(
      """
      select count(*), min(v.code collate "C")
        from (select q.code, q.longitude, q.latitude
                from quake.quake q where \(sql: selection) \(sql: limit)) v
       where \(sql: condition)
      """, as: (Int64, String?).self)
  }
}
