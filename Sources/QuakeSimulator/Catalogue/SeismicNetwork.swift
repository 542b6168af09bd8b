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
