import Glibc

/// A small pseudo-random number generator (SplitMix64) with the distributions the catalogue needs.
///
/// The standard library's `random(using:)` may change between releases. This generator does not, so a seed
/// always gives the same catalogue.
struct SeededGenerator: Sendable {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// 64 random bits.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Uniform in 0 ..< 1.
  mutating func unit() -> Double {
    Double(next() >> 11) * 0x1p-53
  }

  /// Uniform between two numbers.
  mutating func between(_ low: Double, _ high: Double) -> Double {
    low + (high - low) * unit()
  }

  /// Uniform in 0 ..< `bound`; `bound` is at least 1.
  mutating func below(_ bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// True once in `1 / probability` calls.
  mutating func chance(_ probability: Double) -> Bool {
    unit() < probability
  }

  /// Exponential with mean 1.
  mutating func exponential() -> Double {
    -log(1 - unit())
  }

  /// Normal with mean 0 and standard deviation 1.
  mutating func normal() -> Double {
    (2 * exponential()).squareRoot() * cos(2 * Double.pi * unit())
  }

  /// One element; the collection is not empty.
  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[below(elements.count)]
  }
}

extension Double {
  /// The number rounded to `scale` parts of one (100: two decimals), never a negative zero.
  func rounded(to scale: Double) -> Double {
    (self * scale).rounded() / scale + 0
  }
}
