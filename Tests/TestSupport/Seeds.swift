/// The seeds that a test of random cases runs with.
package enum Seeds {
  /// All of `seeds` in `make soak`, otherwise the first `count` of them: the same cases in each
  /// run, so that a failure can be repeated.
  package static func first(_ count: Int, of seeds: ClosedRange<UInt64>) -> [UInt64] {
    Tools.isSoak ? Array(seeds) : Array(seeds.prefix(count))
  }
}
