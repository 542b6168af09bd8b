package import QuakeModel

/// When a consumer tells of an earthquake, and of what becomes of it.
package struct AlertRule: Sendable {
  /// Which events pass.
  package var filter = EventFilter()
  /// Of how much the magnitude must change to be told.
  package var magnitudeStep = 0.3
  /// Of how many kilometres the depth must change to be told.
  package var depthStep = 20.0
  /// How many kilometres the epicentre must move to be told.
  package var placeStep = 50.0
  /// How far below the least magnitude an earthquake that was told must fall to be retracted.
  package var hysteresis = 0.2
  /// How long an earthquake that passes waits for an association with one that was told already.
  package var settle = Duration.zero
  /// How long after the origin time nothing more is told.
  package var closesAfter = Duration.seconds(7 * 86_400)

  package init() {}
}
