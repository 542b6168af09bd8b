package import Postgres
package import QuakeModel

/// Which sources are preferred in a region.
package struct SourcePreference: Sendable, Equatable {
  /// The region; the whole Earth has the general order.
  package let region: EventFilter.BoundingBox
  /// The sources, the most preferred first.
  package let sources: [String]

  /// The preferences of a store, the smallest region first.
  package static func list(over connection: Connection) throws(PostgresError) -> [SourcePreference]
  {
    let rows = try connection.rows(
      "select west, south, east, north, sources from quake.association_preference",
      as: (Double, Double, Double, Double, [String]).self)
    return rows.compactMap { west, south, east, north, sources in
      EventFilter.BoundingBox(west: west, south: south, east: east, north: north)
        .map { SourcePreference(region: $0, sources: sources) }
    }.sorted { $0.order < $1.order }
  }

  /// The sources of the events of a store, sorted.
  package static func sources(over connection: Connection) throws(PostgresError) -> [String] {
    try connection.rows(
      "select distinct q.source from quake.quake q where q.source is not null", as: String.self
    ).sorted()
  }

  /// Sets the order of the sources in a region.
  ///
  /// - Parameter region: Nil: the general order.
  package static func set(
    _ sources: [String], in region: EventFilter.BoundingBox?, over connection: Connection
  ) throws(PostgresError) {
    let (west, south, east, north) = edges(of: region)
    try connection.execute(
      """
      insert into quake.association_preference (west, south, east, north, sources)
      values (\(west), \(south), \(east), \(north), \(sources))
      on conflict (west, south, east, north) do update set sources = excluded.sources
      """)
  }

  /// Removes the order of a region. Returns false if it had none.
  package static func remove(
    _ region: EventFilter.BoundingBox?, over connection: Connection
  ) throws(PostgresError) -> Bool {
    let (west, south, east, north) = edges(of: region)
    return try connection.execute(
      """
      delete from quake.association_preference
       where west = \(west) and south = \(south) and east = \(east) and north = \(north)
      """
    ).affectedRows > 0
  }

  /// Whether the region is the whole Earth.
  package var isGeneral: Bool {
    region.west == -180 && region.south == -90 && region.east == 180 && region.north == 90
  }

  private static func edges(
    of region: EventFilter.BoundingBox?
  ) -> (west: Double, south: Double, east: Double, north: Double) {
    (region?.west ?? -180, region?.south ?? -90, region?.east ?? 180, region?.north ?? 90)
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

  package init(over connection: Connection) throws(PostgresError) {
    let stored = try connection.firstRow(
      """
      select enabled, time_window, distance_window, magnitude_window, loose_factor
        from quake.association_settings
      """, as: (Bool, Double, Double, Double, Double).self)
    guard let stored else { return }
    (isEnabled, timeWindow, distanceWindow, magnitudeWindow, looseFactor) = stored
  }

  /// Stores the windows. Events that are associated already stay so until all events are compared anew.
  package func write(over connection: Connection) throws(PostgresError) {
    try connection.execute(
      """
      update quake.association_settings
         set time_window = \(timeWindow), distance_window = \(distanceWindow),
             magnitude_window = \(magnitudeWindow), loose_factor = \(looseFactor)
      """)
  }
}
