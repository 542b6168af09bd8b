internal import Basics
internal import Glibc
public import QuakeModel

/// When a consumer tells of an earthquake, and of what becomes of it.
public struct AlertRule: Sendable {
  /// Which events pass. Its conditions on changes, such as authors, do not count.
  public var filter = EventFilter()
  /// Of how much the magnitude must change to be told.
  public var magnitudeStep = 0.3
  /// Of how many kilometres the depth must change to be told.
  public var depthStep = 20.0
  /// How many kilometres the epicentre must move to be told.
  public var placeStep = 50.0
  /// How far below the least magnitude an earthquake that was told must fall to be retracted.
  public var hysteresis = 0.2
  /// How long an earthquake that passes waits for an association with one that was told already.
  public var settle = Duration.zero
  /// How long after the origin time nothing more is told.
  public var closesAfter = Duration.seconds(7 * 86_400)
  /// Whether a conversation whose time is over ends with a message.
  public var tellsClosed = false
  /// What is not told first at night; nil: the night is as the day.
  package var night: Night?
  /// Whether aftershocks are not told: those near an earthquake above magnitude 5.5 that was told, and more than
  /// 2 magnitudes weaker.
  public var quietsAftershocks = false
  /// Whether an earthquake is not told whose origin time is before that of one that was told.
  public var isNewestOnly = false

  /// The rule of a consumer without keys.
  public init() {}

  /// The hours in which only strong earthquakes are told.
  package struct Night: Sendable {
    /// The least magnitude that is told.
    package var minimumMagnitude: Double
    package var hours: NightHours

    package init(minimumMagnitude: Double, hours: NightHours) {
      self.minimumMagnitude = minimumMagnitude
      self.hours = hours
    }
  }
}

extension AlertRule {
  /// What an earthquake that was told must meet to stay so. The age of an earthquake retracts none.
  var holding: EventFilter {
    var filter = filter
    filter.newerThan = nil
    filter.minimumMagnitude = filter.minimumMagnitude.map {
      $0 - hysteresis - ChangeConditions.tolerance
    }
    return filter
  }

  /// What an earthquake that was retracted must meet to be told again.
  var returning: EventFilter {
    var filter = filter
    filter.newerThan = nil
    return filter
  }

  /// Whether its magnitude is told at that time of the day.
  func isTold(_ event: EventRecord, at moment: Timestamp) -> Bool {
    guard let night, night.hours.contains(moment) else { return true }
    guard let magnitude = event.magnitude else { return false }
    return magnitude >= night.minimumMagnitude - ChangeConditions.tolerance
  }

  /// Whether an event differs from what was told by one of the steps, or is another one.
  func differs(
    _ event: EventRecord, from told: Alert.Told, in transaction: ChangeTransaction
  ) -> Bool {
    guard event.code.map({ EventCode($0) }) == EventCode(told.code), event.source == told.agency
    else { return true }
    var steps = EventFilter()
    steps.changeConditions.magnitudeChange = magnitudeStep
    steps.changeConditions.depthChange = depthStep
    steps.changeConditions.placeChange = placeStep
    var old = event
    old.magnitude = told.magnitude
    old.depth = told.depth
    old.latitude = told.latitude
    old.longitude = told.longitude
    return steps.accepts(
      Change(
        transaction: transaction, position: 0, op: .update, code: event.code, changed: [],
        old: old, new: event))
  }

  /// When nothing more is told of an earthquake. One whose origin time is in the future counts from `moment`.
  func end(of time: Timestamp?, at moment: Timestamp) -> Timestamp {
    min(time ?? moment, moment).advanced(by: closesAfter)
  }

  /// Whether it is too late to begin a conversation about an event.
  func isOver(_ event: EventRecord, at moment: Timestamp) -> Bool {
    end(of: event.time, at: moment) <= moment
  }
}

extension Timestamp {
  func advanced(by duration: Duration) -> Timestamp {
    let (sum, overflow) = microseconds.addingReportingOverflow(duration.wholeMicroseconds)
    return overflow ? .latest : Timestamp(microseconds: sum)
  }
}

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
