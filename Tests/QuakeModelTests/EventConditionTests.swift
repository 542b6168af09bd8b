import QuakeModel
import Testing

@Suite struct EventConditionTests {
  private var event: EventRecord {
    var event = EventRecord()
    event.set(.code, "us1")
    event.set(.magnitude, 4.5)
    event.set(.depth, -1.5)
    event.set(.time, Timestamp(microseconds: 1_000_000))
    event.set(.place, "6 km SSW of Pāhala, Hawaii")
    event.set(.net, "hv")
    event.set(.source, "usgs")
    event.set(.alert, "green")
    event.set(.felt, integer: 12)
    event.set(.status, "REVIEWED")
    return event
  }

  private func passes(
    _ event: EventRecord? = nil, _ change: (inout EventFilter) -> Void
  ) -> Bool {
    var filter = EventFilter()
    change(&filter)
    return filter.accepts(event ?? self.event)
  }

  @Test func aConditionIncludesTheLimitsExceptTheEndOfTheTime() {
    #expect(passes { $0.maximumMagnitude = 4.5 } && !passes { $0.maximumMagnitude = 4.49 })
    #expect(passes { $0.minimumDepth = -1.5 } && !passes { $0.minimumDepth = 0 })
    #expect(passes { $0.maximumDepth = -1.5 } && !passes { $0.maximumDepth = -2 })
    #expect(passes { $0.minimumFelt = 12 } && !passes { $0.minimumFelt = 13 })
    #expect(passes { $0.earliestTime = Timestamp(microseconds: 1_000_000) })
    #expect(!passes { $0.earliestTime = Timestamp(microseconds: 1_000_001) })
    #expect(passes { $0.endTime = Timestamp(microseconds: 1_000_001) })
    #expect(!passes { $0.endTime = Timestamp(microseconds: 1_000_000) })
  }

  @Test func aConditionFindsPartOfAPlaceInAnyCaseAndWildcardsOnlyAsThemselves() {
    for text in ["hawaii", "PĀHALA", "pāhala, h", "6 KM ssw"] {
      #expect(passes { $0.places = [text] }, "\(text)")
    }
    for text in ["pahala", "%", "_", "Hawaii ", "P.hala", "\\"] {
      #expect(!passes { $0.places = [text] }, "\(text)")
    }
    #expect(passes { $0.places = ["Chile", "of P"] })
  }

  @Test func aConditionTakesTheTextsNamedTheStatusInAnyCase() {
    #expect(passes { $0.networks = ["hv"] } && !passes { $0.networks = ["HV"] })
    #expect(passes { $0.sources = ["usgs", "emsc"] } && !passes { $0.sources = ["emsc"] })
    #expect(passes { $0.alerts = ["green"] } && !passes { $0.alerts = ["red"] })
    #expect(passes { $0.statuses = ["reviewed"] } && !passes { $0.statuses = ["automatic"] })
  }

  @Test func aConditionDoesNotHoldForAnEventWithoutTheValue() {
    let none = EventRecord()
    let filters: [(inout EventFilter) -> Void] = [
      { $0.maximumMagnitude = 9 }, { $0.minimumDepth = -10 }, { $0.maximumDepth = 700 },
      { $0.minimumFelt = 0 }, { $0.places = ["a"] }, { $0.networks = ["us"] },
      { $0.sources = ["usgs"] }, { $0.alerts = ["green"] }, { $0.statuses = ["reviewed"] },
      { $0.earliestTime = .earliest }, { $0.endTime = .latest },
    ]
    for filter in filters { #expect(!passes(none, filter)) }
  }

  @Test func aConditionFoldsLettersOneToOne() {
    let capitals = Array(LetterCase.capitals.unicodeScalars)
    let small = Array(LetterCase.smallLetters.unicodeScalars)
    #expect(capitals.count == small.count && capitals.count > 250)
    for (capital, letter) in zip(capitals, small) {
      #expect(capital.value >= 0x80 && letter.value >= 0x80)
      #expect("\(capital)".lowercased() == "\(letter)", "\(capital)")
    }
  }
}
