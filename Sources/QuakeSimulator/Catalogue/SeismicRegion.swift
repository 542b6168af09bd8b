/// A place that events are named after.
struct Town: Sendable {
  /// The name in `place`, after "12 km NE of ".
  var name: String
  /// Degrees north.
  var latitude: Double
  /// Degrees east.
  var longitude: Double

  init(_ name: String, _ latitude: Double, _ longitude: Double) {
    self.name = name
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// The region of one network, and the properties of its events.
struct SeismicRegion: Sendable {
  var network: SeismicNetwork
  /// Share of all events, in thousandths.
  var weight: Int
  /// The magnitude of completeness; the network detects only some of the smaller events.
  var completeness: Double
  /// 10 if the network reports one decimal of the magnitude, 100 if it reports two.
  var magnitudeScale: Double
  /// Its magnitude types; the first one is for small events.
  var magnitudeTypes: [String]
  /// The usual depth, km.
  var depth: Double
  /// The mean distance of an event from its town, km.
  var spread: Double
  /// The share of explosions in quarries.
  var blasts: Double
  var towns: [Town]

  /// Every region; the weights add up to 1,000.
  static let all: [SeismicRegion] = [
    SeismicRegion(
      network: .ak, weight: 300, completeness: 1.0, magnitudeScale: 10, magnitudeTypes: ["ml"],
      depth: 35, spread: 45, blasts: 0.002,
      towns: [
        Town("Willow, Alaska", 61.747, -150.037), Town("Minto, Alaska", 65.153, -149.337),
        Town("Egegik, Alaska", 58.216, -157.376), Town("Chickaloon, Alaska", 61.797, -148.463),
        Town("Denali National Park, Alaska", 63.733, -148.914),
        Town("Anchor Point, Alaska", 59.777, -151.831), Town("Cantwell, Alaska", 63.392, -148.951),
        Town("Old Harbor, Alaska", 57.203, -153.304), Town("Nikolski, Alaska", 52.938, -168.868),
        Town("Adak, Alaska", 51.880, -176.658), Town("Sand Point, Alaska", 55.340, -160.497),
      ]),
    SeismicRegion(
      network: .nc, weight: 160, completeness: 0.5, magnitudeScale: 100,
      magnitudeTypes: ["md", "ml", "mw"], depth: 5, spread: 6, blasts: 0.02,
      towns: [
        Town("The Geysers, CA", 38.775, -122.756), Town("Cobb, CA", 38.822, -122.723),
        Town("Aromas, CA", 36.889, -121.643), Town("Mammoth Lakes, CA", 37.649, -118.972),
        Town("Petrolia, CA", 40.325, -124.287), Town("Pinnacles, CA", 36.531, -121.143),
        Town("San Ramon, CA", 37.780, -121.978), Town("Parkfield, CA", 35.900, -120.433),
      ]),
    SeismicRegion(
      network: .ci, weight: 115, completeness: 0.7, magnitudeScale: 100,
      magnitudeTypes: ["ml", "Ml", "mw"], depth: 7, spread: 9, blasts: 0.04,
      towns: [
        Town("Ridgecrest, CA", 35.623, -117.671), Town("Borrego Springs, CA", 33.256, -116.375),
        Town("Holtville, CA", 32.811, -115.380), Town("Little Lake, CA", 35.937, -117.907),
        Town("Anza, CA", 33.555, -116.674), Town("Boron, CA", 34.999, -117.650),
        Town("Delta, B.C., MX", 32.353, -115.195), Town("Malibu, CA", 34.026, -118.780),
      ]),
    SeismicRegion(
      network: .us, weight: 92, completeness: 4.2, magnitudeScale: 10,
      magnitudeTypes: ["mb", "mb", "mww", "mwr"], depth: 40, spread: 90, blasts: 0,
      towns: [
        Town("Vilyuchinsk, Russia", 52.931, 158.406), Town("Tual, Indonesia", -5.640, 132.747),
        Town("Hihifo, Tonga", -15.954, -173.777), Town("Yonakuni, Japan", 24.467, 122.988),
        Town("Kokopo, Papua New Guinea", -4.352, 152.263),
        Town("Lata, Solomon Islands", -10.725, 165.797),
        Town("Abriaquí, Colombia", 6.632, -76.066), Town("Tokār, Sudan", 18.425, 37.729),
        Town("San Antonio de los Cobres, Argentina", -24.226, -66.319),
        Town("San Jose Village, Northern Mariana Islands", 14.968, 145.620),
        Town("Lajes das Flores, Portugal", 39.379, -31.182), Town("Lobuche, Nepal", 27.950, 86.810),
        Town("Bandar Lampung, Indonesia", -5.429, 105.261),
        Town("Hualien City, Taiwan", 23.977, 121.604),
        Town("Emiliano Zapata, Mexico", 19.380, -104.960), Town("Xiasi, China", 32.350, 105.750),
        Town("Ndoi Island, Fiji", -20.657, -178.697), Town("Illapel, Chile", -31.633, -71.165),
        Town("Gypsum, Kansas", 38.706, -97.427), Town("Spencer, Idaho", 44.362, -112.187),
      ]),
    SeismicRegion(
      network: .nn, weight: 75, completeness: -0.1, magnitudeScale: 10,
      magnitudeTypes: ["ml", "ML"], depth: 7, spread: 14, blasts: 0.02,
      towns: [
        Town("Bodie, CA", 38.212, -119.014), Town("Mina, Nevada", 38.390, -118.109),
        Town("Tonopah, Nevada", 38.067, -117.230), Town("Beatty, Nevada", 36.909, -116.759),
        Town("Silver Springs, Nevada", 39.416, -119.224),
      ]),
    SeismicRegion(
      network: .tx, weight: 65, completeness: 1.5, magnitudeScale: 10,
      magnitudeTypes: ["ml", "ml(texnet)"], depth: 6, spread: 16, blasts: 0.01,
      towns: [
        Town("Toyah, Texas", 31.312, -103.794), Town("Mentone, Texas", 31.705, -103.599),
        Town("Whites City, New Mexico", 32.175, -104.375), Town("Stanton, Texas", 32.129, -101.788),
      ]),
    SeismicRegion(
      network: .hv, weight: 55, completeness: 1.7, magnitudeScale: 100,
      magnitudeTypes: ["md", "ml"], depth: 20, spread: 8, blasts: 0,
      towns: [
        Town("Pāhala, Hawaii", 19.203, -155.477), Town("Volcano, Hawaii", 19.430, -155.233),
        Town("Leilani Estates, Hawaii", 19.465, -154.918),
        Town("Hōnaunau-Nāpō‘opo‘o, Hawaii", 19.438, -155.884),
      ]),
    SeismicRegion(
      network: .av, weight: 50, completeness: -0.4, magnitudeScale: 100, magnitudeTypes: ["ml"],
      depth: 4, spread: 30, blasts: 0,
      towns: [
        Town("Tyonek, Alaska", 61.068, -151.137), Town("Akutan, Alaska", 54.134, -165.776),
        Town("King Salmon, Alaska", 58.688, -156.661),
      ]),
    SeismicRegion(
      network: .ok, weight: 24, completeness: 1.0, magnitudeScale: 100, magnitudeTypes: ["ml"],
      depth: 6, spread: 8, blasts: 0.02,
      towns: [
        Town("Quinton, Oklahoma", 35.123, -95.370), Town("Medford, Oklahoma", 36.807, -97.734),
        Town("Stonewall, Oklahoma", 34.651, -96.526),
      ]),
    SeismicRegion(
      network: .pr, weight: 22, completeness: 2.3, magnitudeScale: 100, magnitudeTypes: ["md"],
      depth: 15, spread: 18, blasts: 0,
      towns: [
        Town("Hatillo, Puerto Rico", 18.486, -66.825),
        Town("Guánica, Puerto Rico", 17.972, -66.908),
        Town("Boca de Yuma, Dominican Republic", 18.378, -68.609),
      ]),
    SeismicRegion(
      network: .mb, weight: 16, completeness: 0.6, magnitudeScale: 100,
      magnitudeTypes: ["ml", "md"],
      depth: 8, spread: 14, blasts: 0.05,
      towns: [Town("Lincoln, Montana", 46.955, -112.682), Town("Ennis, Montana", 45.349, -111.730)]),
    SeismicRegion(
      network: .uw, weight: 14, completeness: 0.4, magnitudeScale: 100,
      magnitudeTypes: ["ml", "md"],
      depth: 12, spread: 14, blasts: 0.08,
      towns: [
        Town("Ashford, Washington", 46.759, -122.030), Town("Prineville, Oregon", 44.300, -120.834),
      ]),
    SeismicRegion(
      network: .uu, weight: 8, completeness: 0.5, magnitudeScale: 100,
      magnitudeTypes: ["md", "ml"],
      depth: 5, spread: 12, blasts: 0.04,
      towns: [
        Town("Yellowstone, Wyoming", 44.428, -110.588), Town("Emery, Utah", 38.922, -111.249),
      ]),
    SeismicRegion(
      network: .nm, weight: 4, completeness: 1.5, magnitudeScale: 100, magnitudeTypes: ["md"],
      depth: 8, spread: 8, blasts: 0,
      towns: [Town("Ridgely, Tennessee", 36.264, -89.488)]),
  ]

  /// A region by its weight: the index in `all` for each thousandth.
  static let lottery: [Int] = all.indices.flatMap { index in
    Array(repeating: index, count: all[index].weight)
  }
}

/// A network that contributes events. The ids of its events begin with its name, and its name begins with `sim`, as
/// that of no real network does: no real event can have such an id.
enum SeismicNetwork: String, Sendable {
  case us = "simus"
  case ak = "simak"
  case nc = "simnc"
  case ci = "simci"
  case nn = "simnn"
  case tx = "simtx"
  case hv = "simhv"
  case av = "simav"
  case ok = "simok"
  case pr = "simpr"
  case mb = "simmb"
  case uw = "simuw"
  case uu = "simuu"
  case nm = "simnm"

  /// The network's own name for its event number `serial`, in the style of that network.
  ///
  /// It is unique within the network. Texas and Oklahoma use the same style, as the real networks do, whose
  /// codes collide.
  func code(serial: Int, year: Int) -> String {
    switch self {
    case .us:
      "\(6 + serial / Self.fourLetters)000" + Self.letters(serial % Self.fourLetters, count: 4)
    case .ak:
      "0\(year % 100)" + Self.letters(serial, count: 7)
    case .tx, .ok:
      "\(year)" + Self.letters(serial % Self.fourLetters, count: 4)
        + (serial < Self.fourLetters ? "" : "\(serial / Self.fourLetters)")
    case .ci: "\(41_000_000 + serial)"
    case .nc: "\(75_200_000 + serial)"
    case .nn: "00\(890_000 + serial)"
    case .hv: "\(74_700_000 + serial)"
    case .av: "\(93_600_000 + serial)"
    case .pr: "\(71_490_000 + serial)"
    case .mb: "\(90_110_000 + serial)"
    case .uw: "\(62_100_000 + serial)"
    case .uu: "\(80_110_000 + serial)"
    case .nm: "\(60_600_000 + serial)"
    }
  }

  private static let fourLetters = 456_976  // 26⁴

  /// `count` letters that look arbitrary but differ for each number below 26 to that power: a
  /// multiplication by a number without a factor of 26 permutes them.
  private static func letters(_ number: Int, count: Int) -> String {
    var space = 1
    for _ in 0..<count { space *= 26 }
    var rest = number % space * 104_729 % space
    return String(unsafeUninitializedCapacity: count) { buffer in
      for index in 0..<count {
        buffer[index] = 0x61 + UInt8(rest % 26)
        rest /= 26
      }
      return count
    }
  }
}

/// The identity of an event: the network and its code, which together are the feature's `id`.
struct EventIdentifier: Hashable, Sendable {
  var network: SeismicNetwork
  var code: String

  /// The feature's `id`.
  var text: String { network.rawValue + code }
}
