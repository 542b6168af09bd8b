import Foundation
import TestSupport

/// Where the suite's random choices come from.
enum Seed {
  /// The seed of this run: `QUAKE_SEED`, or another one each time. It is printed, so that a run can be
  /// repeated. What the system makes of it (which process gets the processor when) is never the same.
  static let value: UInt64 = {
    let given = ProcessInfo.processInfo.environment["QUAKE_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 1...999_999_999)
    print("change feed tests: QUAKE_SEED=\(seed)")
    return seed
  }()

  /// Random numbers for one purpose.
  static func generator(_ purpose: String) -> SeededGenerator {
    SeededGenerator(value &* 0x1_0000_0001 &+ UInt64(FeedLine.checksum(purpose)))
  }
}
