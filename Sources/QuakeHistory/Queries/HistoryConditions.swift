internal import Postgres
internal import QuakeModel

/// A `QuakeFilter` as conditions of a statement.
///
/// PostgreSQL compares texts byte by byte, and Swift by canonical equivalence. The results differ for texts
/// that consist of different characters and look the same.
struct HistoryConditions {
  /// The conditions' parameters, from `firstParameter` on.
  private(set) var parameters: [Parameter] = []
  /// The conditions on a transaction, alias `t`.
  private(set) var transaction: [String] = []
  /// The conditions on a version, alias `v`.
  private(set) var version: [String] = []
  /// The conditions on the event before or after a change, for a given alias.
  private var event: [(String) -> String] = []
  /// The columns that these conditions use.
  private var columns: [QuakeColumn] = []
  /// The parameter that holds the codes, if there is a condition on them.
  private var codes: String?
  private let firstParameter: Int

  /// The conditions of a filter.
  ///
  /// - Parameter firstParameter: The number of the first parameter that is free.
  init(_ filter: QuakeFilter, firstParameter: Int) {
    self.firstParameter = firstParameter
    add(transactionConditionsOf: filter)
    add(versionConditionsOf: filter)
    add(eventConditionsOf: filter)
  }

  /// The conditions of a filter on events alone.
  init(onEventsOf filter: QuakeFilter, firstParameter: Int) {
    self.firstParameter = firstParameter
    codes = filter.codes.map { place($0) }
    add(eventConditionsOf: filter)
  }

  /// The conditions on a version and on the row that `before` joins to it, aliases `v` and `b`.
  ///
  /// If no row was joined, `b` is null and so are comparisons with it, which count as false. A truncate
  /// concerns every event.
  var change: [String] {
    guard !event.isEmpty else { return version }
    let either = ["v", "b"].map { alias in Self.all(event.map { $0(alias) }) }
      .joined(separator: " or ")
    return version + ["(v.op = 'truncate' or \(either))"]
  }

  /// Joins to a version, alias `v`, the one before an update, alias `b`, if the conditions may have another
  /// result for that one; empty if they never may.
  var before: String {
    guard !event.isEmpty else { return "" }
    let names = columns.map(\.name).joined(separator: ",")
    return """
      left join lateral (
        select * from quake.quake_version b
         where v.op = 'update' and v.changed && '{\(names)}' and b.code = v.code and b.id < v.id
         order by b.id desc limit 1) b on true
      """
  }

  /// The conditions on an event now.
  func event(alias: String) -> [String] {
    (codes.map { ["\(alias).code = any (\($0))"] } ?? []) + event.map { $0(alias) }
  }

  /// Conditions that must all hold.
  static func all(_ conditions: [String]) -> String {
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

  private mutating func add(eventConditionsOf filter: QuakeFilter) {
    if let magnitude = filter.minimumMagnitude {
      let least = place(.double(magnitude), "float8")
      columns.append(.magnitude)
      event.append { "\($0).magnitude >= \(least)" }
    }
    if let types = filter.types {
      let types = place(types)
      columns.append(.type)
      event.append { "\($0).type = any (\(types))" }
    }
    if filter.boundingBox != nil || filter.circle != nil { columns += [.longitude, .latitude] }
    if let box = filter.boundingBox { add(box) }
    if let circle = filter.circle { add(circle) }
  }

  private mutating func add(_ box: QuakeFilter.BoundingBox) {
    let (west, east) = (place(.double(box.west), "float8"), place(.double(box.east), "float8"))
    let (south, north) = (place(.double(box.south), "float8"), place(.double(box.north), "float8"))
    event.append { "\($0).latitude >= \(south) and \($0).latitude <= \(north)" }
    let connective = box.west <= box.east ? "and" : "or"
    event.append { "(\($0).longitude >= \(west) \(connective) \($0).longitude <= \(east))" }
  }

  /// Computes the same as `QuakeFilter.Circle`, operation by operation, so that both agree to the last bit.
  private mutating func add(_ circle: QuakeFilter.Circle) {
    let latitude = place(.double(circle.latitude), "float8")
    let longitude = place(.double(circle.longitude), "float8")
    let radius = place(.double(circle.radius), "float8")
    let radians = "(pi() / 180)"
    event.append { alias in
      let halfLatitude = "sin((\(alias).latitude - \(latitude)) * \(radians) / 2)"
      let halfLongitude = "sin((\(alias).longitude - \(longitude)) * \(radians) / 2)"
      let chord = """
        \(halfLatitude) * \(halfLatitude) \
        + cos(\(latitude) * \(radians)) * cos(\(alias).latitude * \(radians)) \
        * \(halfLongitude) * \(halfLongitude)
        """
      return "2::float8 * 6371.0088::float8 * asin(least(1::float8, sqrt(\(chord)))) <= \(radius)"
    }
  }
}
