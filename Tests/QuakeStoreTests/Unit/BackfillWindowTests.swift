import QuakeModel
import Testing

@testable import QuakeWorker

@Suite struct BackfillWindowTests {
  private func time(_ text: String) throws -> Timestamp {
    try #require(Timestamp(iso8601: text))
  }

  private func window(_ seconds: Int64, count: Int64? = nil) throws -> BackfillWindow {
    try #require(
      BackfillWindow(
        from: Timestamp(microseconds: -1_000_000),
        to: Timestamp(microseconds: (seconds - 1) * 1_000_000), count: count))
  }

  @Test func aBackfillWindowIsWidenedToWholeSeconds() throws {
    for (from, to, start, end, seconds) in [
      (
        "2020-01-01T00:00:00.000001Z", "2020-01-01T00:00:00.000002Z", "2020-01-01T00:00:00.000Z",
        "2020-01-01T00:00:01.000Z", 1
      ),
      (
        "1969-12-31T23:59:58.5Z", "1969-12-31T23:59:59.5Z", "1969-12-31T23:59:58.000Z",
        "1970-01-01T00:00:00.000Z", 2
      ),
      ("2020-01-01", "2020-01-02", "2020-01-01T00:00:00.000Z", "2020-01-02T00:00:00.000Z", 86_400),
    ] {
      let window = try #require(try BackfillWindow(from: time(from), to: time(to)))
      #expect(window.start.description == start)
      #expect(window.end.description == end)
      #expect(window.seconds == seconds)
    }
    let noon = try time("2020-01-01T12:00:00Z")
    #expect(BackfillWindow(from: noon, to: noon) == nil)
    #expect(try BackfillWindow(from: noon, to: time("2020-01-01")) == nil)
  }

  @Test(arguments: [2, 3, 7, 86_401])
  func aBackfillWindowIsCutIntoHalvesThatLeaveNothingOut(seconds: Int64) throws {
    var pending = [try window(seconds, count: 5)]
    var pieces: [BackfillWindow] = []
    while let next = pending.popLast() {
      guard let (first, second) = next.halves else {
        pieces.append(next)
        continue
      }
      #expect(first.start == next.start && first.end == second.start && second.end == next.end)
      #expect(first.count == nil && second.count == nil)
      pending += [second, first]
    }
    #expect(pieces.count == Int(seconds))
    #expect(pieces.allSatisfy { $0.seconds == 1 })
    #expect(zip(pieces, pieces.dropFirst()).allSatisfy { $0.end == $1.start })
  }

  @Test func aBackfillWindowIsCountedCutOrFetched() throws {
    #expect(try window(10).step(limit: 100, counts: true) == .count)
    #expect(try window(10).step(limit: 100, counts: false) == .fetch)
    #expect(try window(10, count: 0).step(limit: 100, counts: true) == .fetch)
    #expect(try window(10, count: 100).step(limit: 100, counts: true) == .fetch)
    #expect(try window(10, count: 101).step(limit: 100, counts: true) == .cut)
    #expect(try window(10, count: 101).step(limit: 100, counts: false) == .cut)
  }

  @Test func aBackfillWindowIsWholeUnlessItsAnswerMayBeCutOff() throws {
    // The service counts: only an answer at the limit may be cut off.
    #expect(try window(10, count: 99).isWhole(seen: 99, limit: 100))
    #expect(try window(10, count: 98).isWhole(seen: 99, limit: 100))
    #expect(try window(10, count: 100).isWhole(seen: 100, limit: 100))
    #expect(try !window(10, count: 99).isWhole(seen: 100, limit: 100))
    // It does not count: it may cut answers off below the limit.
    #expect(try window(10).isWhole(seen: 0, limit: 100))
    #expect(try window(10).isWhole(seen: 89, limit: 100))
    for seen: Int64 in [90, 99, 100, 101] {
      #expect(try !window(10).isWhole(seen: seen, limit: 100))
    }
    #expect(try !window(10).isWhole(seen: 1, limit: 1))
    #expect(try window(10).isWhole(seen: 0, limit: 1))
  }

  @Test func aRoundNumberOfEventsMayBeCutOffUntilALongerAnswer() throws {
    for seen: Int64 in [10, 20, 25, 50, 100, 250, 1000] {
      #expect(try !window(10).isWhole(seen: seen, limit: 20_000))
      #expect(try !window(10).isWhole(seen: seen, limit: 20_000, longest: seen))
      #expect(try window(10).isWhole(seen: seen, limit: 20_000, longest: seen + 1))
      // Fewer than the service counts, but not so few that the answer is damaged.
      #expect(try !window(10, count: seen + 1).isWhole(seen: seen, limit: 20_000))
      #expect(try window(10, count: seen).isWhole(seen: seen, limit: 20_000))
      // It cannot be halved.
      #expect(try window(1).isWhole(seen: seen, limit: 20_000))
      #expect(try window(1).isDoubtful(seen: seen, limit: 20_000))
      #expect(try !window(1).isDoubtful(seen: seen, limit: 20_000, longest: seen + 1))
      #expect(try !window(10).isDoubtful(seen: seen, limit: 20_000))
    }
    for seen: Int64 in [0, 1, 9, 11, 30, 51, 999] {
      #expect(try window(10).isWhole(seen: seen, limit: 20_000))
      #expect(try window(10, count: seen + 1).isWhole(seen: seen, limit: 20_000))
    }
    #expect(try !window(10, count: 1100).isWhole(seen: 995, limit: 20_000))
    #expect(try window(1, count: 1100).isWhole(seen: 995, limit: 20_000))
    #expect(try window(1, count: 1100).isDoubtful(seen: 995, limit: 20_000))
    #expect(try !window(1, count: 1100).isDoubtful(seen: 1100, limit: 20_000))
    #expect(try !window(1).isDoubtful(seen: 7, limit: 20_000))
  }
}
