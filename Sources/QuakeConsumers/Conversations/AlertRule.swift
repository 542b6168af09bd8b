internal import Basics
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
  /// Whether aftershocks must be stronger than others to be told; see `AftershockZone`.
  public var quietsAftershocks = false
  /// Whether an earthquake is not told whose origin time is before that of one that was told.
  public var isNewestOnly = false

  /// The rule of a consumer without keys.
  public init() {}

  /// The hours in which only strong earthquakes are told.
  package struct Night: Sendable {
    /// The least magnitude that is told.
    package var minimumMagnitude: Double
    /// When it is night.
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
