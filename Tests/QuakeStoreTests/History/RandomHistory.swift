import Postgres
import QuakeModel
import TestSupport

/// Writes a history of every kind of change, with values of which filters take some.
struct RandomHistory {
  static let authors = ["ada", "bob", "O'Neil, \"Jr\" {x}\\", ""]
  static let contexts = ["review", "import"]
  static let types = ["earthquake", "quarry blast", "it's \"odd\""]
  static let codes = (0..<12).map { "e\($0)" } + ["c,o\"d\\e", "käse"]

  private let connection: Connection

  init(_ connection: Connection) {
    self.connection = connection
  }

  /// Commits `count` transactions of one change to some.
  func write(_ count: Int, using generator: inout SeededGenerator) throws {
    for _ in 0..<count {
      let application = Bool.random(using: &generator) ? "loader" : "editor"
      try connection.execute(
        "select set_config('application_name', $1, false)", [.text(application)])
      try connection.transaction {
        for (setting, values) in [("author", Self.authors), ("context", Self.contexts)] {
          guard let value = values.randomElement(using: &generator), value != "import" else {
            continue
          }
          try connection.execute(
            "select set_config('quake.' || $1, $2, true)", [.text(setting), .text(value)])
        }
        for _ in 0..<Int.random(in: 1...9, using: &generator) { try change(using: &generator) }
      }
    }
  }

  private func change(using generator: inout SeededGenerator) throws {
    let code = Self.codes.randomElement(using: &generator) ?? ""
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<12:
      try connection.execute("delete from quake.quake where code = $1", [.text(code)])
    case 12..<14: try connection.run("truncate quake.quake")
    case 14..<18:
      // A larger one, so that pages end within it.
      try connection.execute(
        """
        insert into quake.quake as q (code, time, magnitude)
        select 'many' || i, '2024-01-01Z', i % 8 from generate_series(1, 40) i
        on conflict (code) do update set magnitude = q.magnitude + 1 where q.magnitude < 8
        """)
    default: try put(code, using: &generator)
    }
  }

  private func put(_ code: String, using generator: inout SeededGenerator) throws {
    func maybe<Value>(_ value: Value) -> Value? {
      Int.random(in: 0..<5, using: &generator) == 0 ? nil : value
    }
    let magnitude = maybe(Double(Int.random(in: -10...80, using: &generator)) / 10)
    let type = maybe(Self.types.randomElement(using: &generator) ?? "")
    let longitude = maybe(Double.random(in: -180...180, using: &generator))
    let latitude = longitude.map { _ in Double.random(in: -90...90, using: &generator) }
    let depth = maybe(Double(Int.random(in: 0...40, using: &generator)))
    let age = Int64.random(in: 0...600, using: &generator)
    let isWithdrawn = Int.random(in: 0..<6, using: &generator) == 0
    let isSuperseded = Int.random(in: 0..<6, using: &generator) == 0
    try connection.execute(
      """
      insert into quake.quake as q
        (code, time, magnitude, type, longitude, latitude, felt, depth, withdrawn_at, superseded_by)
      values ($1, now() - $6 * interval '1 minute', $2, $3, $4, $5, 0, $7,
              case when $8 then '2024-01-01Z'::timestamptz end, case when $9 then 'other' end)
      on conflict (code) do update
         set magnitude = excluded.magnitude, type = excluded.type, time = excluded.time,
             longitude = excluded.longitude, latitude = excluded.latitude, felt = q.felt + 1,
             depth = excluded.depth, withdrawn_at = excluded.withdrawn_at,
             superseded_by = excluded.superseded_by
      """,
      [
        .text(code), magnitude.map { .double($0) } ?? .null, .text(type),
        longitude.map { .double($0) } ?? .null, latitude.map { .double($0) } ?? .null,
        .integer(age), depth.map { .double($0) } ?? .null, .bool(isWithdrawn), .bool(isSuperseded),
      ])
  }

  /// A filter of some random conditions.
  static func filter(using generator: inout SeededGenerator) -> EventFilter {
    func rarely() -> Bool { Int.random(in: 0..<4, using: &generator) == 0 }
    func some(_ texts: [String]) -> Set<String> {
      Set(texts.filter { _ in Bool.random(using: &generator) })
    }
    var filter = EventFilter()
    if rarely() {
      let conditions: [EventCondition] = [
        .isMissing(.depth), .isMissing(.type),
        .any([.isMissing(.magnitude), .atLeast(.depth, 20)]),
        .any([.atMost(.magnitude, .nan), .isPresent(.longitude)]),
      ]
      filter.conditions = [conditions[Int.random(in: 0..<conditions.count, using: &generator)]]
      // Other conditions do not hold for what is missing.
      if Bool.random(using: &generator) { return filter }
    }
    if rarely() { filter.codes = some(codes + ["many3", "many40", "none"]) }
    if rarely() {
      filter.minimumMagnitude = Double(Int.random(in: -10...80, using: &generator)) / 10
    }
    if rarely() { filter.types = some(types) }
    if rarely() {
      filter.maximumMagnitude = Double(Int.random(in: -10...80, using: &generator)) / 10
    }
    // Each update of an event adds a report.
    if rarely() { filter.minimumFelt = Int.random(in: 0...4, using: &generator) }
    if rarely() { filter.authors = some(authors) }
    if rarely() { filter.excludedAuthors = some(authors) }
    if rarely() { filter.contexts = some(contexts) }
    if rarely() { filter.applications = some(["loader", "editor"]) }
    if rarely() {
      filter.operations = Set(
        ChangeOperation.allCases.filter { _ in Bool.random(using: &generator) })
    }
    if rarely() { filter.changedColumns = some(["magnitude", "type", "felt", "place"]) }
    if rarely() {
      let south = Double.random(in: -90...90, using: &generator)
      filter.boundingBox = .init(
        west: .random(in: -180...180, using: &generator), south: south,
        east: .random(in: -180...180, using: &generator),
        north: .random(in: south...90, using: &generator))
    }
    if rarely() {
      filter.circle = .init(
        radius: .random(in: 0...20_000, using: &generator),
        latitude: .random(in: -90...90, using: &generator),
        longitude: .random(in: -180...180, using: &generator))
    }
    if rarely() { filter.newerThan = .seconds(Int.random(in: 0...36_000, using: &generator)) }
    // In tenths, as the values are, so that some differ by exactly the limit.
    func limit(_ most: Int) -> Double? {
      rarely() ? Double(Int.random(in: 0...most, using: &generator)) / 10 : nil
    }
    if rarely() {
      filter.changeConditions.enters = Bool.random(using: &generator)
      filter.changeConditions.leaves = Bool.random(using: &generator)
      filter.changeConditions.magnitudeChange = limit(60)
      filter.changeConditions.depthChange = limit(300)
      filter.changeConditions.placeChange = limit(150_000)
    }
    return filter
  }
}
