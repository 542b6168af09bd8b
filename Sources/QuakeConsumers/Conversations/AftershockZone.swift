internal import Glibc
package import QuakeModel

/// Where aftershocks of an earthquake are expected, as USGS's Earthquake Notification Service has it
/// (https://earthquake.usgs.gov/ens/help, "Aftershock Exclusion"): for a mainshock above magnitude 5.5, a circle around
/// its epicentre with twice the length of its rupture as radius. In it, an earthquake more than 2 magnitudes weaker is
/// an aftershock that is not told.
///
/// The length is that below the surface, for all kinds of faults, by Wells and Coppersmith (1994), table 2A:
/// log10(RLD) = -2.44 + 0.59 M, in kilometres. (D. L. Wells and K. J. Coppersmith: New empirical relationships among
/// magnitude, rupture length, rupture width, rupture area, and surface displacement. Bulletin of the Seismological
/// Society of America 84(4), 974-1002.) They give no duration. The zone lasts as long as the mainshock's conversation.
package struct AftershockZone: Sendable {
  /// Mainshocks of this magnitude or less have no zone.
  package static let leastMainshock = 5.5
  /// How much weaker an aftershock must be not to be told.
  package static let difference = 2.0

  private let time: Timestamp
  private let latitude: Double
  private let longitude: Double
  private let magnitude: Double

  /// The zone of an earthquake as it was told; nil if it has none.
  package init?(of told: Alert.Told) {
    guard let magnitude = told.magnitude, magnitude > Self.leastMainshock, let time = told.time,
      let latitude = told.latitude, let longitude = told.longitude
    else { return nil }
    self.time = time
    self.latitude = latitude
    self.longitude = longitude
    self.magnitude = magnitude
  }

  /// The length of the rupture below the surface in kilometres.
  package static func ruptureLength(magnitude: Double) -> Double {
    pow(10, -2.44 + 0.59 * magnitude)
  }

  /// The radius in kilometres.
  package var radius: Double { 2 * Self.ruptureLength(magnitude: magnitude) }

  /// Whether an event is an aftershock that is not told.
  package func quiets(_ event: EventRecord) -> Bool {
    guard let eventTime = event.time, eventTime > time, let eventMagnitude = event.magnitude,
      eventMagnitude < magnitude - Self.difference - ChangeConditions.tolerance,
      let eventLatitude = event.latitude, let eventLongitude = event.longitude
    else { return false }
    return GreatCircle.distance(
      latitude: latitude, longitude: longitude, toLatitude: eventLatitude,
      longitude: eventLongitude) <= radius
  }
}
