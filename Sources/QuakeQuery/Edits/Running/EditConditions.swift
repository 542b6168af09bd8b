internal import Basics
internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// The events of an edit as conditions of a statement, alias `q`.
struct EditConditions {
  private(set) var parameters: [Parameter]
  private(set) var conditions: [String]
  private let firstParameter: Int

  /// The conditions of a selection on events, under an alias.
  ///
  /// - Parameter isTable: Whether the alias is that of `quake.quake`.
  init(
    _ selection: EventSelection, alias: String = "q", isTable: Bool = true, firstParameter: Int
  ) {
    self.firstParameter = firstParameter
    let filter = HistoryConditions(onEventsOf: selection.filter, firstParameter: firstParameter)
    parameters = filter.parameters
    conditions = filter.event(alias: alias, isTable: isTable)
  }

  /// The conditions of an edit.
  ///
  /// - Parameter amongKnown: Whether the statement has the codes already, so that those of the filter need
  ///   not be sent again.
  init(_ edit: EventEdit, firstParameter: Int, amongKnown: Bool = false) {
    var selection = edit.selection
    let namesCodes = selection.filter.codes != nil
    if amongKnown { selection.filter.codes = nil }
    self.init(selection, firstParameter: firstParameter)
    var takesPast = namesCodes
    switch edit.action {
    case .validate: conditions.append("not q.validated")
    case .unvalidate: conditions.append("q.validated")
    case .set(let assignments):
      let names = assignments.map { "q.\($0.column.name)" }.joined(separator: ", ")
      let values = assignments.map { place($0.parameter, $0.type) }.joined(separator: ", ")
      conditions.append("row(\(names)) is distinct from row(\(values))")
    case .delete: break
    case .expire(let age, _):
      takesPast = true
      let seconds = place(.double(age.inSeconds), "double precision")
      conditions.append("q.time < now() - make_interval(secs => \(seconds))")
    }
    guard !takesPast else { return }
    if !edit.selection.includesSuperseded { conditions.append("q.superseded_by is null") }
    if !edit.selection.includesWithdrawn { conditions.append("q.withdrawn_at is null") }
  }

  /// Adds a parameter, and returns its placeholder in the statement.
  mutating func place(_ parameter: Parameter, _ type: String) -> String {
    parameters.append(parameter)
    return "$\(firstParameter + parameters.count - 1)::\(type)"
  }

  /// All conditions as one.
  var text: String { HistoryConditions.all(conditions) }
}
