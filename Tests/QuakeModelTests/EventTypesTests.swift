import Testing

@testable import QuakeModel

@Suite struct EventTypesTests {
  @Test func everyTypeIsKnownInAnySpelling() {
    for type in EventTypes.usual {
      for spelling in [
        type, type.uppercased(), type.replacing(" ", with: "_"), type.replacing(" ", with: "-"),
        " \(type) ",
      ] {
        #expect(EventTypes.word(for: spelling).map { "\($0)" } == type, "\(spelling)")
        #expect(EventTypes.spellings(of: spelling).isSuperset(of: [type, spelling]))
      }
    }
  }

  @Test(arguments: [
    ("quarry", "quarry blast"), ("rock_slide", "rockslide"), ("Rockburst", "rock burst"),
    ("sonicboom", "sonic boom"), ("eq", "earthquake"), ("meteor impact", "meteorite"),
    ("other", "other event"), ("induced earthquake", "induced or triggered event"),
  ])
  func otherWordsAreKnown(spelling: String, word: String) {
    #expect(EventTypes.word(for: spelling).map { "\($0)" } == word)
    #expect(EventTypes.spellings(of: word).contains(spelling.lowercased()))
    #expect(EventTypes.spellings(of: spelling).contains(word))
  }

  @Test(arguments: [
    "", "outside of network interest", "not locatable", "duplicate", "frost quake", "Pāhala",
    "volcanic explosion",
  ])
  func aTypeThatSaysMoreIsKept(type: String) {
    #expect(EventTypes.word(for: type) == nil)
    #expect(EventTypes.spellings(of: type).contains(type))
  }

  @Test func theSpellingsHaveThoseWithCapitals() {
    for stored in [
      "Quarry Blast", "Quarry blast", "Quarry_Blast", "QUARRY_BLAST", "QUARRY BLAST",
      "quarry_blast",
      "Quarry",
    ] {
      #expect(EventTypes.spellings(of: "quarry blast").contains(stored), "\(stored)")
    }
    #expect(EventTypes.spellings(of: "earthquake").contains("Earthquake"))
  }

  @Test func aFilterTakesEverySpellingOfAType() {
    var filter = EventFilter()
    func accepts(_ type: String?) -> Bool {
      var event = EventRecord()
      if let type { event.set(.type, type) }
      return filter.accepts(event)
    }
    for given in ["quarry_blast", "quarry blast", "Quarry"] {
      filter.types = [given]
      #expect(accepts("quarry blast") && accepts("quarry_blast") && accepts("quarry"))
      #expect(!accepts("explosion") && !accepts(nil))
    }
    filter.types = ["frost_quake"]
    #expect(accepts("frost_quake") && accepts("frost quake"))
    filter.types = nil
    #expect(accepts(nil))
  }
}
