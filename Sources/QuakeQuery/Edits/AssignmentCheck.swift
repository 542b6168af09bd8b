internal import Postgres
internal import QuakeModel

/// Refuses assignments that the table would refuse for some of the events, before anything is written. The
/// server's own error would show the whole row instead of the reason.
enum AssignmentCheck {
  /// - Throws: `InvalidEdit` if an event would have one coordinate only, or would supersede itself;
  ///   `StoreError` of kind `badData` if there is no event that is to supersede others; `PostgresError`.
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
        throw InvalidEdit(
          "cannot set one of longitude and latitude, and remove the other", hint: hint)
      }
      return
    }
    let other = first.column == .longitude ? QuakeColumn.latitude : .longitude
    let removes = first.value == nil
    let found = try events(of: edit, over: connection) { _ in
      "v.\(other.name) is \(removes ? "not null" : "null")"
    }
    guard let code = found.first else { return }
    let verb = removes ? "remove" : "set"
    let state = "\(removes ? "a" : "no") \(other.name)"
    throw InvalidEdit(
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
    let known = try connection.execute(
      "select from quake.quake q where q.code = $1", [.text(successor)])
    guard known.rowCount > 0 else {
      throw StoreError(
        .badData, "cannot set superseded_by: there is no event \"\(successor)\"",
        hint:
          "Name the code of a stored event. The SQL function quake.find finds it by any of its ids."
      )
    }
    let itself = try events(of: edit, over: connection) { conditions in
      "v.code = \(conditions.place(.text(successor), "text"))"
    }
    guard itself.first == nil else {
      throw InvalidEdit(
        "cannot set superseded_by: event \"\(successor)\" would supersede itself",
        hint: "Leave it out of the selection.")
    }
  }

  /// The number of events of an edit, alias `v`, that meet a condition, and the code of the first.
  private static func events(
    of edit: EventEdit, over connection: Connection,
    where condition: (inout EditConditions) -> String
  ) throws -> (count: Int64, first: String?) {
    var conditions = EditConditions(edit, firstParameter: 1)
    let selection = conditions.text
    let condition = condition(&conditions)
    let limit = edit.selection.limit.map { "\(BatchEdit.order) limit \($0)" } ?? ""
    let found = try connection.execute(
      SQL(
        trusted: """
          select count(*), min(v.code collate "C")
            from (select q.code, q.longitude, q.latitude from quake.quake q where \(selection) \(limit)) v
           where \(condition)
          """), conditions.parameters)
    return (found.integer(0, 0) ?? 0, found.text(0, 1))
  }
}
