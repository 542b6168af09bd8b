import Glibc

struct EventReviser {
  /// The random generator, which the caller copies back afterwards.
  var random: SeededGenerator

  /// Changes some values of the event, or only when it was updated.
  mutating func revise(_ event: inout SimulatedEvent, now: Int64) {
    let hasChanged = changeValues(of: &event)
    // `updated` is not a version: now and then it stays, rarely it goes back.
    if !hasChanged || !random.chance(0.14) {
      let back = hasChanged && random.chance(0.015)
      event.updated =
        back ? event.updated - Int64(random.between(1000, 3_600_000)) : max(now, event.updated + 1)
    }
  }

  /// - Returns: Whether a value has changed.
  private mutating func changeValues(of event: inout SimulatedEvent) -> Bool {
    switch random.unit() {
    case ..<0.28: return magnitude(of: &event)
    case ..<0.50: return location(of: &event)
    case ..<0.64: return status(of: &event)
    case ..<0.74: return felt(of: &event)
    case ..<0.77: return time(of: &event)
    case ..<0.79: return alert(of: &event)
    case ..<0.81: return kind(of: &event)
    default: return false
    }
  }

  private mutating func magnitude(of event: inout SimulatedEvent) -> Bool {
    guard let old = event.magnitude else {
      event.magnitude = random.between(0.5, 3).rounded(to: 10)
      event.magnitudeType = "ml"
      return true
    }
    let step = max(0.01, abs(random.normal() * 0.18)).rounded(to: 100)
    event.magnitude = (old + (random.chance(0.5) ? step : -step)).rounded(to: 100)
    return event.magnitude != old
  }

  private mutating func location(of event: inout SimulatedEvent) -> Bool {
    let depth = (event.depth ?? 10) + 0.01 + abs(random.normal() * 3)
    event.depth = depth.rounded(to: 100)
    guard random.chance(0.6) else { return true }
    // Rarely the first location was altogether wrong.
    let away = random.chance(0.005) ? 400 : 2.0
    (event.latitude, event.longitude) = EventGenerator.setLocation(
      &event.place, distance: abs(Double(event.place.distance) + random.normal() * away) + 0.5,
      bearing: Double(event.place.direction) + random.normal() * 0.6)
    event.latitude = event.latitude.rounded(to: 1e4)
    event.longitude = event.longitude.rounded(to: 1e4)
    return true
  }

  private mutating func status(of event: inout SimulatedEvent) -> Bool {
    if event.status == .reviewed {
      guard random.chance(0.1) else {
        event.rms = ((event.rms ?? 0.2) + 0.01).rounded(to: 100)
        return true
      }
      event.status = .automatic
      return true
    }
    event.status = .reviewed
    event.stations = event.stations.map { $0 + 1 + random.below(20) }
    event.rms = random.between(0.01, 1.1).rounded(to: 100)
    return true
  }

  private mutating func felt(of event: inout SimulatedEvent) -> Bool {
    guard event.felt != nil || (event.magnitude ?? 0) >= 2 else { return false }
    event.felt = (event.felt ?? 0) + 1 + Int(random.exponential() * 3)
    event.cdi = event.cdi ?? random.between(1, 3.5).rounded(to: 10)
    return true
  }

  private mutating func time(of event: inout SimulatedEvent) -> Bool {
    // Mostly fractions of a second, rarely hours.
    let seconds = random.chance(0.01) ? random.between(600, 57_600) : random.between(0.01, 2)
    event.time -= max(1, Int64(seconds * 1000))
    return true
  }

  private mutating func alert(of event: inout SimulatedEvent) -> Bool {
    guard let magnitude = event.magnitude, magnitude >= 4 else { return false }
    switch event.alert {
    case nil: event.alert = .green
    case .green: event.alert = .yellow
    case .yellow, .orange, .red: event.alert = .green
    }
    event.mmi = event.mmi ?? (magnitude - 1).rounded(to: 1000)
    return true
  }

  private mutating func kind(of event: inout SimulatedEvent) -> Bool {
    event.kind = event.kind == .earthquake ? .quarryBlast : .earthquake
    return true
  }
}
