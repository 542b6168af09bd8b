import Testing

@testable import QuakeFeed

/// When a transfer is too slow.
@Suite struct TransferPaceTests {
  private static let limits = TransferPace.Limits(
    stall: 10_000, window: 30_000, minimumRate: 100, total: 600_000)
  private static let second = 1_000_000_000

  /// Seconds until the transfer fails at a rate in bytes a second, and the error.
  private func failure(
    after limit: Int = 1000, _ limits: TransferPace.Limits = limits, bytes: (Int) -> Int
  ) -> (Int, TransferPace.Failure)? {
    var pace = TransferPace(limits)
    var received = 0
    for time in 1...limit {
      received += bytes(time)
      if let failure = pace.advance(by: Self.second, bytes: received, isConnecting: false) {
        return (time, failure)
      }
    }
    return nil
  }

  @Test func aByteASecondIsTooSlow() throws {
    let (time, failure) = try #require(failure { _ in 1 })
    #expect((30...32).contains(time))
    guard case .slow(let bytes, _) = failure else {
      Issue.record("\(failure)")
      return
    }
    #expect(bytes <= 32)
  }

  @Test func aTransferAboveTheLowestRateEndsAtItsTimeLimit() throws {
    let (time, failure) = try #require(failure { _ in 110 })
    #expect(failure == .late && time == 600)
  }

  @Test func aPauseCanBeMadeUpForWithinTheWindow() {
    // 9 s of silence, then enough bytes for 10 s at the lowest rate.
    #expect(failure(after: 590) { $0 % 10 == 0 ? 1100 : 0 } == nil)
  }

  @Test func aFastStartCountsOnlyWithinTheWindow() throws {
    let (time, _) = try #require(failure { $0 < 10 ? 1_000_000 : 1 })
    #expect((38...44).contains(time), "\(time)")
  }

  @Test func silenceIsAnErrorAfterTheStallLimit() throws {
    let (time, failure) = try #require(failure { $0 == 1 ? 1_000_000 : 0 })
    #expect(failure == .stalled && time == 11)
    #expect(try #require(self.failure { _ in 0 }).0 == 10)
  }

  @Test func theRateIsMeasuredForAtLeastTheStallLimit() throws {
    var limits = Self.limits
    limits.stall = 120_000
    #expect(try #require(failure(limits) { _ in 1 }).0 >= 120)
  }

  @Test func connectingHasALimitOfItsOwn() {
    var pace = TransferPace(Self.limits)
    for _ in 1...100 {
      #expect(pace.advance(by: Self.second, bytes: 0, isConnecting: true) == nil)
    }
    for _ in 1...9 {
      #expect(pace.advance(by: Self.second, bytes: 0, isConnecting: false) == nil)
    }
    #expect(pace.advance(by: Self.second, bytes: 0, isConnecting: false) == .stalled)
  }
}
