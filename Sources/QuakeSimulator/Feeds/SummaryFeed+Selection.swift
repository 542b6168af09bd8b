import QuakeModel

extension SummaryFeed.Window {
  var milliseconds: Int64 { seconds * 1000 }
}

extension SummaryFeed {
  private func admits(_ event: SimulatedEvent) -> Bool {
    if let least = threshold.significance, event.significance < least { return false }
    if let least = threshold.magnitude, (event.magnitude ?? -.infinity) < least { return false }
    return true
  }

  /// The feed's events at the instant `now` (milliseconds), the latest first.
  ///
  /// `events` is in the order of time.
  func select(from events: [SimulatedEvent], now: Int64) -> [SimulatedEvent] {
    var selected: [SimulatedEvent] = []
    let start = now - window.milliseconds
    for event in events.reversed() {
      guard event.time >= start, selected.count < Self.maximumCount else { break }
      if event.time <= now, admits(event) { selected.append(event) }
    }
    return selected
  }
}
