import Glibc

/// Generates events one by one: position, magnitude, and the values that depend on them.
struct EventGenerator: Sendable {
  /// The number of events and ids made so far; each id has its own.
  private var serial: Int
  private let year: Int

  /// Ids contain the year of `now`, as those of Texas, Oklahoma and Alaska do. Their numbers follow `serial`.
  init(year: Int, serial: Int = 0) {
    self.year = year
    self.serial = serial
  }

  /// The position and strength of a new event.
  enum Origin {
    /// Anywhere, by the share of each region.
    case anywhere
    /// Near an event before it and weaker.
    case aftershock(of: SimulatedEvent)
  }

  /// A fresh id of a network.
  mutating func identifier(_ network: SeismicNetwork) -> EventIdentifier {
    serial += 1
    return EventIdentifier(network: network, code: network.code(serial: serial, year: year))
  }

  /// A new event that happened at `time` and appeared in the catalogue at `appeared` (milliseconds).
  mutating func event(
    _ origin: Origin, time: Int64, appeared: Int64, random: inout SeededGenerator
  ) -> SimulatedEvent {
    let region: Int
    var place: Place
    var latitude: Double
    var longitude: Double
    switch origin {
    case .anywhere:
      region = SeismicRegion.lottery[random.below(SeismicRegion.lottery.count)]
      place = Place(
        distance: 0, direction: 0, region: region,
        town: random.below(SeismicRegion.all[region].towns.count))
      let distance = 1 + random.exponential() * SeismicRegion.all[region].spread
      (latitude, longitude) = Self.setLocation(
        &place, distance: distance, bearing: random.between(0, 16))
    case .aftershock(let main):
      region = main.place.region
      place = main.place
      place.trailingSpace = false
      let away = 1.5 + random.exponential() * 3
      (latitude, longitude) = Self.setLocation(
        &place, distance: abs(Double(main.place.distance) + random.normal() * away),
        bearing: Double(main.place.direction) + random.normal() * 0.4)
    }
    let site = SeismicRegion.all[region]
    let local = site.magnitudeScale == 100
    latitude = latitude.rounded(to: local && random.chance(0.5) ? 1e7 : 1e4)
    longitude = longitude.rounded(to: local && random.chance(0.5) ? 1e7 : 1e4)
    var event = SimulatedEvent(
      id: identifier(site.network), time: time, updated: appeared, appeared: appeared,
      place: place, longitude: longitude, latitude: latitude)

    let magnitude = magnitude(origin, site, random: &random)
    event.depth = depth(site, random: &random)
    if site.blasts > 0, magnitude < 3, random.chance(site.blasts) {
      event.kind = random.chance(0.85) ? .quarryBlast : .explosion
      event.depth = random.chance(0.5) ? 0 : random.between(-1, 1).rounded(to: 100)
    } else if site.network == .ak, magnitude < 3, random.chance(0.004) {
      event.kind = random.chance(0.8) ? .iceQuake : .otherEvent
    }
    if !random.chance(0.0015) {
      event.magnitude = magnitude
      event.magnitudeType =
        magnitude >= 5.5 && site.network == .us
        ? "mww"
        : random.chance(0.8) ? site.magnitudeTypes[0] : random.pick(site.magnitudeTypes)
    }
    if random.chance(0.002) { event.place.trailingSpace = true }
    measure(&event, magnitude: magnitude, random: &random)
    report(&event, magnitude: magnitude, random: &random)
    if site.network != .us, random.chance(magnitude >= 2.5 ? 0.6 : 0.03) {
      event.otherIDs.append(identifier(.us))
    } else if site.network == .us, magnitude >= 5, random.chance(0.3) {
      event.otherIDs.append(identifier(random.chance(0.5) ? .ak : .pr))
    }
    if magnitude >= 4 || random.chance(0.35) { event.status = .reviewed }
    return event
  }

  /// Gutenberg and Richter with b = 1 above the region's completeness, which itself varies.
  private func magnitude(
    _ origin: Origin, _ site: SeismicRegion, random: inout SeededGenerator
  ) -> Double {
    let floor = site.completeness + min(0.3, random.normal() * 0.3)
    let largest: Double
    switch origin {
    case .anywhere: largest = site.network == .us || site.network == .ak ? 8.2 : 6.8
    case .aftershock(let main): largest = max(floor + 0.1, (main.magnitude ?? 3) - 0.5)
    }
    var value = floor + random.exponential() / log(10)
    if value > largest { value = floor + random.unit() * (largest - floor) * 0.5 }
    value = value.rounded(to: site.magnitudeScale)
    // Hawaii's feed has values that were single-precision numbers: 1.70000005.
    if site.network == .hv, random.chance(0.3) {
      value = Double(Float(value)).rounded(to: 1e8)
    }
    return value
  }

  private func depth(_ site: SeismicRegion, random: inout SeededGenerator) -> Double? {
    if random.chance(0.0005) { return nil }
    if site.network == .us {
      if random.chance(0.4) { return random.chance(0.8) ? 10 : 35 }
      if random.chance(0.1) { return random.between(300, 663).rounded(to: 1000) }
    }
    let scale = site.network == .ak || site.network == .nn ? 10.0 : 100
    return (random.exponential() * site.depth - (random.chance(0.15) ? 2 : 0)).rounded(to: scale)
  }

  func measure(_ event: inout SimulatedEvent, magnitude: Double, random: inout SeededGenerator) {
    event.rms = random.chance(0.001) ? nil : random.between(0.01, 1.1).rounded(to: 100)
    // Alaska never reports it; the others nearly always do.
    let silent = event.id.network == .ak ? !random.chance(0.25) : random.chance(0.02)
    event.stations = silent ? nil : max(3, Int(random.exponential() * 15 + magnitude * 8))
    event.dmin =
      silent ? nil : (random.exponential() * (event.id.network == .us ? 2 : 0.06)).rounded(to: 1e5)
    event.gap =
      silent && !random.chance(0.4)
      ? nil : random.between(20, 300).rounded(to: random.chance(0.7) ? 1 : 10)
  }

  /// Reports of people, and values computed from them.
  func report(_ event: inout SimulatedEvent, magnitude: Double, random: inout SeededGenerator) {
    let heard = event.id.network == .us ? 0.05 : 0.22
    if magnitude >= 1, random.chance(min(0.95, (magnitude - 0.95) * heard)) {
      event.felt = random.chance(0.02) ? 0 : 1 + Int(random.exponential() * exp(magnitude - 2))
      event.cdi = min(9, 1 + random.unit() * magnitude * 0.8).rounded(to: 10)
    }
    if magnitude >= 4, random.chance((magnitude - 3.4) * 0.35) {
      event.mmi = min(9.5, magnitude - 1.5 + random.unit()).rounded(to: 1000)
      if magnitude >= 4.5, random.chance(0.5) {
        event.alert =
          magnitude > 7.4 ? .red : magnitude > 6.8 ? .orange : magnitude > 6.2 ? .yellow : .green
      }
    }
    event.tsunami = magnitude >= 6 && random.chance(0.6)
  }

  /// Sets distance and direction of a place from a bearing in sixteenths of a turn. Returns the point in
  /// degrees north and degrees east.
  static func setLocation(
    _ place: inout Place, distance: Double, bearing: Double
  ) -> (Double, Double) {
    let town = SeismicRegion.all[place.region].towns[place.town]
    let direction = Int(bearing.rounded()) % 16
    place.direction = direction < 0 ? direction + 16 : direction
    place.distance = max(1, Int(distance.rounded()))
    let angle = bearing * Double.pi / 8
    let latitude = min(max(town.latitude + cos(angle) * distance / 111.2, -89), 89)
    var longitude =
      town.longitude + sin(angle) * distance / (111.2 * cos(latitude * Double.pi / 180))
    if longitude > 180 { longitude -= 360 }
    if longitude < -180 { longitude += 360 }
    return (latitude, longitude)
  }
}
