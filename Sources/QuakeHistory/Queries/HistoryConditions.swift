internal import Basics
package import Postgres
package import QuakeModel

/// A `QuakeFilter` as conditions of a statement.
///
/// PostgreSQL compares texts byte by byte, and Swift by canonical equivalence. The results differ for texts
/// that consist of different characters and look the same.
package struct HistoryConditions {
  /// The conditions' parameters, from `firstParameter` on.
  package private(set) var parameters: [Parameter] = []
  /// The conditions on a transaction, alias `t`.
  private(set) var transaction: [String] = []
  /// The conditions on a version, alias `v`.
  private(set) var version: [String] = []
  /// The conditions on the event before or after a change, for a given alias.
  private var event: [(String) -> String] = []
  /// Conditions that follow from those on the epicentre and that an index of `quake.quake` supports.
  private var cells: [(String) -> String] = []
  /// Conditions on a change, one of which is enough; aliases `v` and `b`.
  private var changeConditions: [String] = []
  /// The columns that these conditions use.
  private var columns: [QuakeColumn] = []
  /// The parameter that holds the codes, if there is a condition on them.
  private var codes: String?
  private let firstParameter: Int

  /// The conditions of a filter.
  ///
  /// - Parameters:
  ///   - firstParameter: The number of the first parameter that is free.
  ///   - alias: The alias of the row with the time and the context of a version's transaction.
  init(_ filter: QuakeFilter, firstParameter: Int, ofTransaction alias: String = "t") {
    self.firstParameter = firstParameter
    add(transactionConditionsOf: filter)
    add(versionConditionsOf: filter)
    add(eventConditionsOf: filter)
    if let newerThan = filter.newerThan {
      let age = place(.integer(newerThan.wholeMicroseconds), "int8")
      columns.append(.time)
      event.append { "\($0).time >= \(alias).at - \(age) * interval '1 microsecond'" }
    }
    add(filter.changeConditions, ofTransaction: alias)
  }

  /// The conditions of a filter on events alone.
  package init(onEventsOf filter: QuakeFilter, firstParameter: Int) {
    self.firstParameter = firstParameter
    codes = filter.codes.map { place($0) }
    add(eventConditionsOf: filter)
  }

  /// The conditions on a version and on the row that `before` joins to it, aliases `v` and `b`.
  ///
  /// If no row was joined, `b` is null and so are comparisons with it, which count as false. A truncate
  /// concerns every event.
  var change: [String] {
    let version =
      version
      + (changeConditions.isEmpty ? [] : ["(" + changeConditions.joined(separator: " or ") + ")"])
    guard !event.isEmpty else { return version }
    let either = ["v", "b"].map { alias in Self.all(event.map { $0(alias) }) }
      .joined(separator: " or ")
    return version + ["(v.op = 'truncate' or \(either))"]
  }

  /// Joins to a version, alias `v`, the one before an update, alias `b`, if the conditions may have another
  /// result for that one; empty if they never may.
  var before: String {
    guard !columns.isEmpty else { return "" }
    let names = columns.map(\.name).joined(separator: ",")
    return """
      left join lateral (
        select * from quake.quake_version b
         where v.op = 'update' and v.changed && '{\(names)}' and b.code = v.code and b.id < v.id
         order by b.id desc limit 1) b on true
      """
  }

  /// The conditions on an event now.
  ///
  /// - Parameter isTable: Whether the alias is that of `quake.quake`, whose index on cells of the map is used.
  package func event(alias: String, isTable: Bool = false) -> [String] {
    (codes.map { ["\(alias).code = any (\($0))"] } ?? [])
      + (isTable ? cells : []).map { $0(alias) } + event.map { $0(alias) }
  }

  /// Conditions that must all hold.
  package static func all(_ conditions: [String]) -> String {
    conditions.isEmpty ? "true" : "(" + conditions.joined(separator: " and ") + ")"
  }

  private mutating func place(_ parameter: Parameter, _ type: String) -> String {
    parameters.append(parameter)
    return "$\(firstParameter + parameters.count - 1)::\(type)"
  }

  /// Omits texts with a NUL: no table contains them, and they cannot be sent.
  private mutating func place(_ texts: some Sequence<String>) -> String {
    place(.array(texts.filter { !$0.utf8.contains(0) }.sorted()), "text[]")
  }

  private mutating func add(transactionConditionsOf filter: QuakeFilter) {
    for (column, texts) in [
      ("author", filter.authors), ("context", filter.contexts),
      ("application_name", filter.applications),
    ] {
      if let texts { transaction.append("t.\(column) = any (\(place(texts)))") }
    }
    if !filter.excludedAuthors.isEmpty {
      transaction.append(
        "(t.author is null or t.author <> all (\(place(filter.excludedAuthors))))")
    }
    if filter.operations != nil || filter.changedColumns != nil {
      // A transaction without such changes need not be read.
      transaction.append(Self.counted(filter).joined(separator: " + ") + " > 0")
    }
  }

  /// The columns with the numbers of those changes of a transaction, alias `t`, whose operations can pass a
  /// filter.
  static func counted(_ filter: QuakeFilter) -> [String] {
    var operations = filter.operations ?? Set(ChangeOperation.allCases)
    if filter.changedColumns != nil { operations.formIntersection([.update]) }
    let columns = ChangeOperation.allCases.filter(operations.contains).map { operation in
      switch operation {
      case .insert: "t.inserted"
      case .update: "t.updated"
      case .delete: "t.deleted"
      case .truncate: "t.truncated"
      }
    }
    return columns.isEmpty ? ["0"] : columns
  }

  private mutating func add(versionConditionsOf filter: QuakeFilter) {
    if let operations = filter.operations {
      version.append("v.op = any (\(place(operations.map(\.rawValue))))")
    }
    if let columns = filter.changedColumns { version.append("v.changed && \(place(columns))") }
    if let wanted = filter.codes {
      let place = place(wanted)
      version.append("(v.op = 'truncate' or v.code = any (\(place)))")
      codes = place
    }
  }

  /// Decides as `QuakeFilter.accepts` does. Without a row before an update, `b`, the columns that the conditions
  /// use did not change.
  private mutating func add(_ wanted: ChangeConditions, ofTransaction alias: String) {
    guard wanted != ChangeConditions() else { return }
    columns += [.withdrawnAt, .supersededBy]
    let conditions = event
    let selected = { (alias: String) in
      "coalesce("
        + Self.all(
          ["\(alias).withdrawn_at is null", "\(alias).superseded_by is null"]
            + conditions.map { $0(alias) }) + ", false)"
    }
    let after = "(v.op in ('insert', 'update') and \(selected("v")))"
    let before =
      "(v.op <> 'insert' and case when b.id is null then \(selected("v")) else \(selected("b")) end)"
    let association = """
      (v.op = 'update' and v.changed = '{superseded_by}' \
      and \(alias).context is not distinct from '\(ChangeTransaction.associationContext)')
      """
    if wanted.enters {
      changeConditions.append(
        "(v.op <> 'truncate' and \(after) and not \(before) and not \(association))")
    }
    if wanted.leaves {
      changeConditions.append(
        "(v.op = 'truncate' or \(before) and not \(after) and not \(association))")
    }
    let isSeen = "(\(selected("b")) or \(selected("v")))"
    for (column, least) in [
      (QuakeColumn.magnitude, wanted.magnitudeChange), (.depth, wanted.depthChange),
    ] {
      guard let least else { continue }
      let limit = place(.double(least - ChangeConditions.tolerance), "float8")
      columns.append(column)
      changeConditions.append(
        """
        (b.id is not null and \(isSeen) and b.\(column.name) is distinct from v.\(column.name) \
        and coalesce(abs(v.\(column.name) - b.\(column.name)) >= \(limit), true))
        """)
    }
    if let least = wanted.placeChange {
      let limit = place(.double(least - ChangeConditions.tolerance), "float8")
      columns += [.longitude, .latitude]
      let distance = Self.distance(
        latitude: "b.latitude", longitude: "b.longitude", to: "v")
      changeConditions.append(
        """
        (b.id is not null and \(isSeen) \
        and (b.latitude is distinct from v.latitude or b.longitude is distinct from v.longitude) \
        and case when b.latitude is null or b.longitude is null then \
        v.latitude is not null and v.longitude is not null \
        when v.latitude is null or v.longitude is null then true \
        else \(distance) >= \(limit) end)
        """)
    }
  }

  private mutating func add(eventConditionsOf filter: QuakeFilter) {
    add(.magnitude, ">=", filter.minimumMagnitude)
    add(.magnitude, "<=", filter.maximumMagnitude)
    add(.depth, ">=", filter.minimumDepth)
    add(.depth, "<=", filter.maximumDepth)
    add(.time, ">=", filter.earliestTime)
    add(.time, "<", filter.endTime)
    add(.type, filter.spelledTypes)
    add(.net, filter.networks)
    add(.source, filter.sources)
    add(.alert, filter.alerts)
    add(.status, filter.foldedStatuses) { "pg_catalog.lower(\($0) collate \"C\")" }
    if let felt = filter.minimumFelt {
      let least = place(.integer(Int64(felt)), "int8")
      columns.append(.felt)
      event.append { "\($0).felt >= \(least)" }
    }
    if let places = filter.places { add(places: places) }
    if filter.boundingBox != nil || filter.circle != nil { columns += [.longitude, .latitude] }
    if let box = filter.boundingBox { add(box) }
    if let circle = filter.circle { add(circle) }
    for condition in filter.conditions { event.append(expression(condition)) }
  }

  /// A condition on an event for a given alias.
  private mutating func expression(_ condition: EventCondition) -> (String) -> String {
    func value(_ column: QuakeColumn, _ comparison: String) -> (String) -> String {
      columns.append(column)
      return { "\($0).\(column.name) \(comparison)" }
    }
    switch condition {
    case .atLeast(let column, let least):
      return value(column, ">= \(place(.double(least), "float8"))")
    case .atMost(let column, let most):
      return value(column, "<= \(place(.double(most), "float8"))")
    case .notBefore(let column, let time):
      return value(column, ">= \(place(.text("\(time)"), "timestamptz"))")
    case .before(let column, let time):
      return value(column, "< \(place(.text("\(time)"), "timestamptz"))")
    case .foldedText(let column, let texts):
      let wanted = place(texts)
      columns.append(column)
      return { "pg_catalog.lower(\($0).\(column.name) collate \"C\") = any (\(wanted))" }
    case .lists(let column, let entry):
      guard let listed = EventCondition.listed(entry) else { return { _ in "false" } }
      let wanted = place(.text(listed), "text")
      columns.append(column)
      return { "pg_catalog.strpos(\($0).\(column.name), \(wanted)) > 0" }
    case .isPresent(let column): return value(column, "is not null")
    case .isMissing(let column): return value(column, "is null")
    case .all(let conditions):
      let parts = conditions.map { expression($0) }
      return { alias in Self.all(parts.map { $0(alias) }) }
    case .any(let conditions):
      let parts = conditions.map { expression($0) }
      return { alias in
        parts.isEmpty ? "false" : "(" + parts.map { $0(alias) }.joined(separator: " or ") + ")"
      }
    }
  }

  private mutating func add(_ column: QuakeColumn, _ comparison: String, _ limit: Double?) {
    guard let limit else { return }
    let limitPlace = place(.double(limit), "float8")
    columns.append(column)
    event.append { "\($0).\(column.name) \(comparison) \(limitPlace)" }
  }

  private mutating func add(_ column: QuakeColumn, _ comparison: String, _ limit: Timestamp?) {
    guard let limit else { return }
    let limitPlace = place(.text("\(limit)"), "timestamptz")
    columns.append(column)
    event.append { "\($0).\(column.name) \(comparison) \(limitPlace)" }
  }

  private mutating func add(
    _ column: QuakeColumn, _ wanted: Set<String>?, as value: @escaping (String) -> String = { $0 }
  ) {
    guard let wanted else { return }
    let texts = place(wanted)
    columns.append(column)
    event.append { "\(value("\($0).\(column.name)")) = any (\(texts))" }
  }

  /// Compares as `LetterCase` does. A text of ASCII can only equal characters of ASCII, and no capital beyond
  /// ASCII has a small letter in it, so `translate`, which is slow, is needed only for other texts.
  private mutating func add(places: [String]) {
    var parts: [(String) -> String] = []
    for text in places.map(LetterCase.folded) where !text.contains(0) {
      let wanted = place(.text(String(decoding: text, as: UTF8.self)), "text")
      if text.allSatisfy({ $0 < 0x80 }) {
        parts.append {
          "pg_catalog.strpos(pg_catalog.lower(\($0).place collate \"C\"), \(wanted)) > 0"
        }
      } else {
        let capitals = place(.text(LetterCase.capitals), "text")
        let small = place(.text(LetterCase.smallLetters), "text")
        parts.append {
          """
          pg_catalog.strpos(pg_catalog.translate(pg_catalog.lower(\($0).place collate "C"), \
          \(capitals), \(small)), \(wanted)) > 0
          """
        }
      }
    }
    columns.append(.place)
    event.append { alias in
      parts.isEmpty ? "false" : "(" + parts.map { $0(alias) }.joined(separator: " or ") + ")"
    }
  }

  private mutating func add(_ box: QuakeFilter.BoundingBox) {
    let (west, east) = (place(.double(box.west), "float8"), place(.double(box.east), "float8"))
    let (south, north) = (place(.double(box.south), "float8"), place(.double(box.north), "float8"))
    event.append { "\($0).latitude >= \(south) and \($0).latitude <= \(north)" }
    addCells("box_cells(\(west), \(south), \(east), \(north))")
    let connective = box.west <= box.east ? "and" : "or"
    event.append { "(\($0).longitude >= \(west) \(connective) \($0).longitude <= \(east))" }
  }

  /// Restricts the epicentre to cells of the map. The function is immutable: the planner computes its result
  /// before it plans, so that it sees either a list of cells or, for areas too large for one, no condition.
  private mutating func addCells(_ function: String) {
    let list = "quake.quake__\(function)"
    cells.append {
      "(\(list) is null or quake.quake__cell(\($0).longitude, \($0).latitude) = any (\(list)))"
    }
  }

  /// Computes the same as `QuakeFilter.Circle`, operation by operation, so that both agree to the last bit.
  private mutating func add(_ circle: QuakeFilter.Circle) {
    let latitude = place(.double(circle.latitude), "float8")
    let longitude = place(.double(circle.longitude), "float8")
    let radius = place(.double(circle.radius), "float8")
    let inner = circle.innerRadius > 0 ? place(.double(circle.innerRadius), "float8") : nil
    addCells("circle_cells(\(latitude), \(longitude), \(radius))")
    event.append { alias in
      let distance = Self.distance(latitude: latitude, longitude: longitude, to: alias)
      let least = inner.map { " and \(distance) >= \($0)" } ?? ""
      return "(\(alias).longitude is not null and \(distance) <= \(radius)\(least))"
    }
  }

  /// The distance from a point to an event, as `GreatCircle` computes it.
  ///
  /// For an event without an epicentre it is half of the Earth's circumference, because `least` leaves out
  /// a null.
  private static func distance(latitude: String, longitude: String, to alias: String) -> String {
    let radians = "(pi() / 180)"
    func whole(_ degrees: String) -> String { "((\(degrees) + 1::float8) - 1::float8)" }
    let (latitude, toLatitude) = (whole(latitude), whole("\(alias).latitude"))
    let (longitude, toLongitude) = (whole(longitude), whole("\(alias).longitude"))
    let halfLatitude = "sin((\(toLatitude) - \(latitude)) * \(radians) / 2)"
    let halfLongitude = "sin((\(toLongitude) - \(longitude)) * \(radians) / 2)"
    let chord = """
      \(halfLatitude) * \(halfLatitude) \
      + cos(\(latitude) * \(radians)) * cos(\(toLatitude) * \(radians)) \
      * \(halfLongitude) * \(halfLongitude)
      """
    return "2::float8 * 6371.0088::float8 * asin(least(1::float8, sqrt(\(chord))))"
  }
}
