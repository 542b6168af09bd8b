internal import QuakeModel

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
