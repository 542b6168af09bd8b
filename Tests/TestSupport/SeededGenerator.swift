/// Random numbers that are the same in each run, so that a failure can be repeated (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// The numbers that belong to `seed`.
  package init(_ seed: UInt64) {
    state = seed
  }

  /// The next number.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// The seeds that a test of random cases runs with.
package enum Seeds {
  /// All of `seeds` in `make soak`, otherwise the first `count` of them: the same cases in each
  /// run, so that a failure can be repeated.
  package static func first(_ count: Int, of seeds: ClosedRange<UInt64>) -> [UInt64] {
    Tools.isSoak ? Array(seeds) : Array(seeds.prefix(count))
  }
}
