internal import Basics
package import Postgres
package import QuakeModel

/// A `EventFilter` as conditions of a statement.
package struct HistoryConditions {
  /// The conditions on a transaction, alias `t`.
  private(set) var transaction: [SQL] = []
  /// The conditions on a version, alias `v`.
  private(set) var version: [SQL] = []
  /// The conditions on the event before or after a change, for a given alias.
  private var event: [(SQL) -> SQL] = []
  /// Lists of cells of the map, one for each condition on the epicentre, each of which an event that meets it is in.
  ///
  /// The functions that compute them are immutable: the planner computes their results before it plans, so that it
  /// sees either a list of cells or null, for areas too large for one.
  package private(set) var cells: [SQL] = []
  /// Conditions on a change, one of which is enough; aliases `v` and `b`.
  private var changeConditions: [SQL] = []
  /// The columns that these conditions use.
  private var columns: [EventColumn] = []
  /// The parameter that holds the codes, if there is a condition on them.
  private var codes: SQL?

  /// The conditions of a filter.
  ///
  /// - Parameter alias: The alias of the row with the time and the context of a version's transaction.
  init(_ filter: EventFilter, ofTransaction alias: SQL = "t") {
    add(transactionConditionsOf: filter)
    add(versionConditionsOf: filter)
    add(eventConditionsOf: filter)
    if let newerThan = filter.newerThan {
      let age: SQL = "\(newerThan.wholeMicroseconds)::int8"
      columns.append(.time)
      event.append {
        "\(sql: $0).time >= \(sql: alias).at - \(sql: age) * interval '1 microsecond'"
      }
    }
    add(filter.changeConditions, ofTransaction: alias)
  }

  /// The conditions of a filter on events alone.
  package init(onEventsOf filter: EventFilter) {
    codes = filter.codes.map { Self.texts($0) }
    add(eventConditionsOf: filter)
  }

  /// The conditions on a version and on the row that `before` joins to it, aliases `v` and `b`.
  ///
  /// If no row was joined, `v` decides alone: all columns of `b` are null, which is a value that some conditions ask
  /// for. A truncate concerns every event.
  var change: [SQL] {
    let version = version + (changeConditions.isEmpty ? [] : [Self.any(changeConditions)])
    guard !event.isEmpty else { return version }
    let after = Self.all(event.map { $0("v") })
    let before: SQL =
      columns.isEmpty
      ? "" : " or (b.id is not null and \(sql: Self.all(event.map { $0("b") })))"
    return version + ["(v.op = 'truncate' or \(sql: after)\(sql: before))"]
  }

  /// Joins to a version, alias `v`, the one before an update, alias `b`, if the conditions may have another
  /// result for that one; empty if they never may.
  var before: SQL {
    guard !columns.isEmpty else { return "" }
    let names = columns.map(\.name)
    return """
      left join lateral (
        select * from quake.quake_version b
         where v.op = 'update' and v.changed && \(names)::text[] and b.code = v.code and b.id < v.id
         order by b.id desc limit 1) b on true
      """
  }

  /// A query of the codes, each once, if there is a condition on them.
  package var codeList: SQL? { codes.map { "select unnest(\(sql: $0))" } }

  /// The conditions on an event now.
  ///
  /// - Parameter isTable: Whether the alias is that of `quake.quake`, whose index on cells of the map is used.
  package func event(alias: SQL, isTable: Bool = false) -> [SQL] {
    (codes.map { ["\(sql: alias).code = any (\(sql: $0))"] } ?? [])
      + (isTable ? cells : []).map { list in
        "(\(sql: list) is null or quake.quake__cell(\(sql: alias).longitude, \(sql: alias).latitude) = any (\(sql: list)))"
      } + event.map { $0(alias) }
  }

  package static func all(_ conditions: [SQL]) -> SQL {
    conditions.isEmpty ? "true" : "(" + conditions.joined(separator: " and ") + ")"
  }

  private static func any(_ conditions: [SQL]) -> SQL {
    conditions.isEmpty ? "false" : "(" + conditions.joined(separator: " or ") + ")"
  }

  /// Omits texts with a NUL: no table contains them, and they cannot be sent.
  private static func texts(_ texts: some Sequence<String>) -> SQL {
    "\(texts.filter { !$0.utf8.contains(0) }.sorted())::text[]"
  }

  private mutating func add(transactionConditionsOf filter: EventFilter) {
    for (column, texts) in [
      ("author", filter.authors), ("context", filter.contexts),
      ("application_name", filter.applications),
    ] {
      if let texts {
        transaction.append("t.\(identifier: column) = any (\(sql: Self.texts(texts)))")
      }
    }
    if !filter.excludedAuthors.isEmpty {
      transaction.append(
        "(t.author is null or t.author <> all (\(sql: Self.texts(filter.excludedAuthors))))")
    }
    if filter.operations != nil || filter.changedColumns != nil {
      // A transaction without such changes need not be read.
      transaction.append(Self.counted(filter).joined(separator: " + ") + " > 0")
    }
  }

  /// The columns with the numbers of those changes of a transaction, alias `t`, whose operations can pass a
  /// filter.
  static func counted(_ filter: EventFilter) -> [SQL] {
    var operations = filter.operations ?? Set(ChangeOperation.allCases)
    if filter.changedColumns != nil { operations.formIntersection([.update]) }
    let columns = ChangeOperation.allCases.filter(operations.contains).map { operation -> SQL in
      switch operation {
      case .insert: "t.inserted"
      case .update: "t.updated"
      case .delete: "t.deleted"
      case .truncate: "t.truncated"
      }
    }
    return columns.isEmpty ? ["0"] : columns
  }

  private mutating func add(versionConditionsOf filter: EventFilter) {
    if let operations = filter.operations {
      version.append("v.op = any (\(sql: Self.texts(operations.map(\.rawValue))))")
    }
    if let columns = filter.changedColumns {
      version.append("v.changed && \(sql: Self.texts(columns))")
    }
    if let wanted = filter.codes {
      let wanted = Self.texts(wanted)
      version.append("(v.op = 'truncate' or v.code = any (\(sql: wanted)))")
      codes = wanted
    }
  }

  /// Decides as `EventFilter.accepts` does. Without a row before an update, `b`, the columns that the conditions
  /// use did not change.
  private mutating func add(_ wanted: ChangeConditions, ofTransaction alias: SQL) {
    guard wanted != ChangeConditions() else { return }
    columns += [.withdrawnAt, .supersededBy]
    let conditions = event
    let selected = { (alias: SQL) -> SQL in
      let all = Self.all(
        ["\(sql: alias).withdrawn_at is null", "\(sql: alias).superseded_by is null"]
          + conditions.map { $0(alias) })
      return "coalesce(\(sql: all), false)"
    }
    let after: SQL = "(v.op in ('insert', 'update') and \(sql: selected("v")))"
    let before: SQL =
      "(v.op <> 'insert' and case when b.id is null then \(sql: selected("v")) else \(sql: selected("b")) end)"
    let association: SQL = """
      (v.op = 'update' and v.changed = '{superseded_by}' \
      and \(sql: alias).context is not distinct from \(ChangeTransaction.associationContext))
      """
    if wanted.enters {
      changeConditions.append(
        "(v.op <> 'truncate' and \(sql: after) and not \(sql: before) and not \(sql: association))")
    }
    if wanted.leaves {
      changeConditions.append(
        "(v.op = 'truncate' or \(sql: before) and not \(sql: after) and not \(sql: association))")
    }
    let isSeen: SQL = "(\(sql: selected("b")) or \(sql: selected("v")))"
    for (column, least) in [
      (EventColumn.magnitude, wanted.magnitudeChange), (.depth, wanted.depthChange),
    ] {
      guard let least else { continue }
      let limit: SQL = "\(least - ChangeConditions.tolerance)::float8"
      columns.append(column)
      changeConditions.append(
        """
        (b.id is not null and \(sql: isSeen) and b.\(identifier: column.name) is distinct from v.\(identifier: column.name) \
        and coalesce(abs(v.\(identifier: column.name) - b.\(identifier: column.name)) >= \(sql: limit), true))
        """)
    }
    if let least = wanted.placeChange {
      let limit: SQL = "\(least - ChangeConditions.tolerance)::float8"
      columns += [.longitude, .latitude]
      let distance = Self.distance(
        latitude: "b.latitude", longitude: "b.longitude", to: "v")
      changeConditions.append(
        """
        (b.id is not null and \(sql: isSeen) \
        and (b.latitude is distinct from v.latitude or b.longitude is distinct from v.longitude) \
        and case when b.latitude is null or b.longitude is null then \
        v.latitude is not null and v.longitude is not null \
        when v.latitude is null or v.longitude is null then true \
        else \(sql: distance) >= \(sql: limit) end)
        """)
    }
  }

  private mutating func add(eventConditionsOf filter: EventFilter) {
    for limit in filter.limits { event.append(expression(limit)) }
    add(.type, filter.spelledTypes)
    add(.net, filter.networks)
    add(.source, filter.sources)
    add(.alert, filter.alerts)
    if let statuses = filter.foldedStatuses {
      event.append(expression(.foldedText(.status, statuses)))
    }
    if let felt = filter.minimumFelt {
      let least: SQL = "\(felt)::int8"
      columns.append(.felt)
      event.append { "\(sql: $0).felt >= \(sql: least)" }
    }
    if let places = filter.places { add(places: places) }
    if filter.boundingBox != nil || filter.circle != nil { columns += [.longitude, .latitude] }
    if let box = filter.boundingBox { add(box) }
    if let circle = filter.circle { add(circle) }
    for condition in filter.conditions { event.append(expression(condition)) }
  }

  /// A condition on an event for a given alias.
  private mutating func expression(_ condition: EventCondition) -> (SQL) -> SQL {
    func value(_ column: EventColumn, _ comparison: SQL) -> (SQL) -> SQL {
      columns.append(column)
      return { "\(sql: $0).\(identifier: column.name) \(sql: comparison)" }
    }
    switch condition {
    // For PostgreSQL, NaN is greater than all numbers; in Swift no number is within a limit that is none.
    case .atLeast(_, let limit) where limit.isNaN, .atMost(_, let limit) where limit.isNaN:
      return { _ in "false" }
    case .atLeast(let column, let least):
      return value(column, ">= \(least)::float8")
    case .atMost(let column, let most):
      return value(column, "<= \(most)::float8")
    case .notBefore(let column, let time):
      return value(column, ">= \(time)::timestamptz")
    case .before(let column, let time):
      return value(column, "< \(time)::timestamptz")
    case .foldedText(let column, let texts):
      let wanted = Self.texts(texts)
      columns.append(column)
      return {
        "pg_catalog.lower(\(sql: $0).\(identifier: column.name) collate \"C\") = any (\(sql: wanted))"
      }
    case .lists(let column, let entry):
      guard let listed = EventCondition.listed(entry) else { return { _ in "false" } }
      let wanted: SQL = "\(listed)::text"
      columns.append(column)
      return { "pg_catalog.strpos(\(sql: $0).\(identifier: column.name), \(sql: wanted)) > 0" }
    case .isPresent(let column): return value(column, "is not null")
    case .isMissing(let column): return value(column, "is null")
    case .all(let conditions):
      let parts = conditions.map { expression($0) }
      return { alias in Self.all(parts.map { $0(alias) }) }
    case .any(let conditions):
      let parts = conditions.map { expression($0) }
      return { alias in Self.any(parts.map { $0(alias) }) }
    }
  }

  private mutating func add(_ column: EventColumn, _ wanted: Set<String>?) {
    guard let wanted else { return }
    let texts = Self.texts(wanted)
    columns.append(column)
    event.append { "\(sql: $0).\(identifier: column.name) = any (\(sql: texts))" }
  }

  /// Compares as `LetterCase` does. A text of ASCII can only equal characters of ASCII, and no capital beyond
  /// ASCII has a small letter in it, so `translate`, which is slow, is needed only for other texts.
  private mutating func add(places: [String]) {
    var parts: [(SQL) -> SQL] = []
    for text in places.map(LetterCase.folded) where !text.contains(0) {
      let wanted: SQL = "\(String(decoding: text, as: UTF8.self))::text"
      if text.allSatisfy({ $0 < 0x80 }) {
        parts.append {
          "pg_catalog.strpos(pg_catalog.lower(\(sql: $0).place collate \"C\"), \(sql: wanted)) > 0"
        }
      } else {
        let capitals: SQL = "\(LetterCase.capitals)::text"
        let small: SQL = "\(LetterCase.smallLetters)::text"
        parts.append {
          """
          pg_catalog.strpos(pg_catalog.translate(pg_catalog.lower(\(sql: $0).place collate "C"), \
          \(sql: capitals), \(sql: small)), \(sql: wanted)) > 0
          """
        }
      }
    }
    columns.append(.place)
    event.append { alias in Self.any(parts.map { $0(alias) }) }
  }

  private mutating func add(_ box: EventFilter.BoundingBox) {
    let (west, east): (SQL, SQL) = ("\(box.west)::float8", "\(box.east)::float8")
    let (south, north): (SQL, SQL) = ("\(box.south)::float8", "\(box.north)::float8")
    event.append { "\(sql: $0).latitude >= \(sql: south) and \(sql: $0).latitude <= \(sql: north)" }
    cells.append(
      "quake.quake__box_cells(\(sql: west), \(sql: south), \(sql: east), \(sql: north))")
    let connective: SQL = box.west <= box.east ? "and" : "or"
    event.append {
      "(\(sql: $0).longitude >= \(sql: west) \(sql: connective) \(sql: $0).longitude <= \(sql: east))"
    }
  }

  /// Computes the same as `EventFilter.Circle`, operation by operation, so that both agree to the last bit.
  private mutating func add(_ circle: EventFilter.Circle) {
    let latitude: SQL = "\(circle.latitude)::float8"
    let longitude: SQL = "\(circle.longitude)::float8"
    let radius: SQL = "\(circle.radius)::float8"
    let inner: SQL? = circle.innerRadius > 0 ? "\(circle.innerRadius)::float8" : nil
    cells.append(
      "quake.quake__circle_cells(\(sql: latitude), \(sql: longitude), \(sql: radius))")
    event.append { alias in
      let distance = Self.distance(latitude: latitude, longitude: longitude, to: alias)
      let least: SQL = inner.map { " and \(sql: distance) >= \(sql: $0)" } ?? ""
      return
        "(\(sql: alias).longitude is not null and \(sql: distance) <= \(sql: radius)\(sql: least))"
    }
  }

  /// The distance from a point to an event, as `GreatCircle` computes it.
  ///
  /// For an event without an epicentre it is half of the Earth's circumference, because `least` leaves out
  /// a null.
  private static func distance(latitude: SQL, longitude: SQL, to alias: SQL) -> SQL {
    let radians: SQL = "(pi() / 180)"
    func whole(_ degrees: SQL) -> SQL { "((\(sql: degrees) + 1::float8) - 1::float8)" }
    let (latitude, toLatitude) = (whole(latitude), whole("\(sql: alias).latitude"))
    let (longitude, toLongitude) = (whole(longitude), whole("\(sql: alias).longitude"))
    let halfLatitude: SQL = "sin((\(sql: toLatitude) - \(sql: latitude)) * \(sql: radians) / 2)"
    let halfLongitude: SQL = "sin((\(sql: toLongitude) - \(sql: longitude)) * \(sql: radians) / 2)"
    let chord: SQL = """
      \(sql: halfLatitude) * \(sql: halfLatitude) \
      + cos(\(sql: latitude) * \(sql: radians)) * cos(\(sql: toLatitude) * \(sql: radians)) \
      * \(sql: halfLongitude) * \(sql: halfLongitude)
      """
    return "2::float8 * 6371.0088::float8 * asin(least(1::float8, sqrt(\(sql: chord))))"
  }
}
