internal import QuakeModel

extension QuakeRecord {
  /// Whether the row describes no earthquake now: its event is withdrawn or superseded.
  var isPast: Bool { has(.withdrawnAt) || has(.supersededBy) }
}

/// The words that mark an event that is no earthquake of its own now.
enum PastEvent {
  /// The event type: QuakeML's word for an event that does not exist. An import rejects such events.
  static let type: StaticString = "not existing"
  /// The status: USGS's word.
  static let status: StaticString = "deleted"
}
