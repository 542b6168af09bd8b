import TestSupport
import Testing

@testable import QuakeQuery

@Suite struct AssociationMatcherTests {
  private typealias Pair = AssociationMatcher.Pair

  @Test func theMatcherTakesTheNearestPairFirstAndAnEventOnce() {
    let matcher = AssociationMatcher(
      sources: ["a1": "a", "a2": "a", "b1": "b", "b2": "b", "c1": "c"],
      candidates: [
        Pair("a1", "b1"): 0.5, Pair("a2", "b1"): 0.1, Pair("a2", "b2"): 0.2, Pair("a1", "b2"): 0.3,
        Pair("b1", "c1"): 0.4, Pair("a1", "c1"): 0.35, Pair("b2", "c1"): 0.45,
      ], joined: [], separated: [])
    #expect(matcher.earthquakes().sorted { $0[0] < $1[0] } == [["a1", "b2", "c1"], ["a2", "b1"]])
  }

  @Test func theMatcherMakesNoEarthquakeOfAChainWithDistantEnds() {
    let sources = ["a1": "a", "b1": "b", "c1": "c", "d1": "d"]
    let chain = [Pair("a1", "b1"): 0.9, Pair("b1", "c1"): 0.8, Pair("c1", "d1"): 0.9]
    func earthquakes(_ joined: Set<Pair> = []) -> [[String]] {
      AssociationMatcher(sources: sources, candidates: chain, joined: joined, separated: [])
        .earthquakes().sorted { $0[0] < $1[0] }
    }
    #expect(earthquakes() == [["b1", "c1"]])
    // What a person has joined need not be near the rest.
    #expect(earthquakes([Pair("a1", "d1")]) == [["a1", "b1", "c1", "d1"]])
  }

  @Test(arguments: Seeds.first(50, of: 1...5000))
  func theMatcherYieldsTheSameForAnyOrderOfEqualDistances(seed: UInt64) {
    var generator = SeededGenerator(seed)
    var sources: [String: String] = [:]
    for number in 0..<12 { sources["e\(number)"] = "s\(number % 3)" }
    var candidates: [Pair: Double] = [:]
    for (code, source) in sources {
      for (other, second) in sources where source != second && Bool.random(using: &generator) {
        candidates[Pair(code, other)] = Double(Int.random(in: 0...3, using: &generator))
      }
    }
    func result() -> [[String]] {
      AssociationMatcher(
        sources: sources, candidates: candidates, joined: [], separated: []
      ).earthquakes().sorted { $0[0] < $1[0] }
    }
    let first = result()
    #expect(Set(first.joined()).count == first.joined().count)
    for earthquake in first {
      #expect(Set(earthquake.compactMap { sources[$0] }).count == earthquake.count)
    }
    // A dictionary with the same entries in another order.
    var shuffled: [Pair: Double] = [:]
    for (pair, distance) in candidates.shuffled(using: &generator) { shuffled[pair] = distance }
    candidates = shuffled
    #expect(result() == first)
  }
}
