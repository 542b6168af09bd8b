public import Postgres

/// Whether events of different sources are associated, and how near they must be.
public struct AssociationSettings: Sendable, Equatable {
  /// Whether events are associated. Only `AssociationTriggers` changes it.
  public internal(set) var isEnabled = false
  /// The largest difference of the origin times, seconds: 0.001 to 600.
  public var timeWindow = 16.0
  /// The largest distance of the epicentres, kilometres: 0.001 to 2,000.
  public var distanceWindow = 100.0
  /// The largest difference of the magnitudes: 0.001 to 22.
  public var magnitudeWindow = 1.5
  /// The windows of time and distance are this much wider if either solution is automatic or deep: 1 to 10.
  public var looseFactor = 1.5

  /// From this depth on a solution is deep, kilometres.
  public static let deep = 70.0

  /// The settings of a new store.
  public init() {}

  /// Reads the settings of a store.
  public init(over connection: Connection) throws(PostgresError) {
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
  public func write(over connection: Connection) throws(PostgresError) {
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
