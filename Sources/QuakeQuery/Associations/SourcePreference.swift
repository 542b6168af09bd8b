package import Postgres
package import QuakeModel

/// Which sources are preferred in a region.
package struct SourcePreference: Sendable, Equatable {
  /// The region; the whole Earth has the general order.
  package let region: QuakeFilter.BoundingBox
  /// The sources, the most preferred first.
  package let sources: [String]

  /// The preferences of a store, the smallest region first.
  package static func list(over connection: Connection) throws(PostgresError) -> [SourcePreference]
  {
    let rows = try connection.execute(
      "select west, south, east, north, sources from quake.association_preference",
      format: .binary)
    var list: [SourcePreference] = []
    for row in 0..<rows.rowCount {
      guard let west = rows.binaryDouble(row, 0), let south = rows.binaryDouble(row, 1),
        let east = rows.binaryDouble(row, 2), let north = rows.binaryDouble(row, 3),
        let sources = rows.binaryTextArray(row, 4),
        let region = QuakeFilter.BoundingBox(west: west, south: south, east: east, north: north)
      else { continue }
      list.append(SourcePreference(region: region, sources: sources))
    }
    return list.sorted { $0.order < $1.order }
  }

  /// The sources of the events of a store, sorted.
  package static func sources(over connection: Connection) throws(PostgresError) -> [String] {
    let rows = try connection.execute("select distinct q.source from quake.quake q")
    return (0..<rows.rowCount).compactMap { rows.text($0, 0) }.sorted()
  }

  /// Sets the order of the sources in a region.
  ///
  /// - Parameter region: Nil: the general order.
  package static func set(
    _ sources: [String], in region: QuakeFilter.BoundingBox?, over connection: Connection
  ) throws(PostgresError) {
    try connection.execute(
      """
      insert into quake.association_preference (west, south, east, north, sources)
      values ($1, $2, $3, $4, $5)
      on conflict (west, south, east, north) do update set sources = excluded.sources
      """, parameters(of: region) + [.array(sources)])
  }

  /// Removes the order of a region. Returns false if it had none.
  package static func remove(
    _ region: QuakeFilter.BoundingBox?, over connection: Connection
  ) throws(PostgresError) -> Bool {
    try connection.execute(
      """
      delete from quake.association_preference
       where west = $1 and south = $2 and east = $3 and north = $4
      """, parameters(of: region)
    ).affectedRows > 0
  }

  /// Whether the region is the whole Earth.
  package var isGeneral: Bool {
    region.west == -180 && region.south == -90 && region.east == 180 && region.north == 90
  }

  private static func parameters(of region: QuakeFilter.BoundingBox?) -> [Parameter] {
    [
      .double(region?.west ?? -180), .double(region?.south ?? -90), .double(region?.east ?? 180),
      .double(region?.north ?? 90),
    ]
  }

  /// The smaller region first. Regions of one size are in an order that never changes.
  private var order: (Double, Double, Double) {
    let width = region.east - region.west + (region.west <= region.east ? 0 : 360)
    return (width * (region.north - region.south), region.west, region.south)
  }
}

/// Chooses the preferred solution of an earthquake.
struct SourceOrder {
  /// The smallest region first.
  let preferences: [SourcePreference]

  /// The most preferred event. Which one it is does not depend on the order of the events.
  ///
  /// The region is that of the event that the general order prefers, so that an earthquake on a border lies
  /// in one region.
  func preferred(of events: [AssociationEvent]) -> AssociationEvent? {
    let general = preferences.last { $0.isGeneral }?.sources ?? []
    func first(_ sources: [String]) -> AssociationEvent? {
      events.min { left, right in
        (rank(left, sources), rank(left, general), left.source, left.code)
          < (rank(right, sources), rank(right, general), right.source, right.code)
      }
    }
    guard let reference = first(general) else { return nil }
    let region = preferences.first {
      $0.region.contains(longitude: reference.longitude, latitude: reference.latitude)
    }
    return first(region?.sources ?? general)
  }

  private func rank(_ event: AssociationEvent, _ sources: [String]) -> Int {
    sources.firstIndex(of: event.source) ?? sources.count
  }
}

/// Whether events of different sources are associated, and how near they must be.
package struct AssociationSettings: Sendable, Equatable {
  /// Whether events are associated. Only `AssociationTriggers` changes it.
  package internal(set) var isEnabled = false
  /// The largest difference of the origin times, seconds: 0.001 to 600.
  package var timeWindow = 16.0
  /// The largest distance of the epicentres, kilometres: 0.001 to 2,000.
  package var distanceWindow = 100.0
  /// The largest difference of the magnitudes: 0.001 to 22.
  package var magnitudeWindow = 1.5
  /// The windows of time and distance are this much wider if either solution is automatic or deep: 1 to 10.
  package var looseFactor = 1.5

  /// From this depth on a solution is deep, kilometres.
  package static let deep = 70.0

  /// The settings of a new store.
  package init() {}

  /// Reads the settings of a store.
  package init(over connection: Connection) throws(PostgresError) {
    let row = try connection.execute(
      """
      select enabled, time_window, distance_window, magnitude_window, loose_factor
        from quake.association_settings
      """, format: .binary)
    isEnabled = row.binaryBool(0, 0) ?? false
    timeWindow = row.binaryDouble(0, 1) ?? timeWindow
    distanceWindow = row.binaryDouble(0, 2) ?? distanceWindow
    magnitudeWindow = row.binaryDouble(0, 3) ?? magnitudeWindow
    looseFactor = row.binaryDouble(0, 4) ?? looseFactor
  }

  /// Stores the windows. Events that are associated already stay so until all events are compared anew.
  package func write(over connection: Connection) throws(PostgresError) {
    try connection.execute(
      """
      update quake.association_settings
         set time_window = $1, distance_window = $2, magnitude_window = $3, loose_factor = $4
      """, parameters)
  }

  /// The windows as parameters of a statement.
  var parameters: [Parameter] {
    [.double(timeWindow), .double(distanceWindow), .double(magnitudeWindow), .double(looseFactor)]
  }
}
