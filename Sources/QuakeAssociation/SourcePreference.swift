public import Postgres
public import QuakeModel

/// Which sources are preferred in a region.
public struct SourcePreference: Sendable, Equatable {
  /// The region; the whole Earth has the general order.
  public let region: QuakeFilter.BoundingBox
  /// The sources, the most preferred first.
  public let sources: [String]

  /// The preferences of a store, the smallest region first.
  public static func list(over connection: Connection) throws(PostgresError) -> [SourcePreference] {
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
  public static func sources(over connection: Connection) throws(PostgresError) -> [String] {
    let rows = try connection.execute("select distinct q.source from quake.quake q")
    return (0..<rows.rowCount).compactMap { rows.text($0, 0) }.sorted()
  }

  /// Sets the order of the sources in a region.
  ///
  /// - Parameter region: Nil: the general order.
  public static func set(
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
  public static func remove(
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
  public var isGeneral: Bool {
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
