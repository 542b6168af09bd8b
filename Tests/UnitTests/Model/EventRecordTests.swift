import Testing

@testable import QuakeModel

@Suite struct EventRecordTests {
  @Test func aRecordHasNoValueInAnyColumnAtFirst() {
    let record = EventRecord()
    for column in EventColumn.allCases { #expect(!record.has(column), "\(column)") }
    #expect(record.text(.code) == nil && record.double(.magnitude) == nil)
    // A record has a bit for each column.
    #expect(EventColumn.allCases.count <= 64)
  }

  /// Sets a column to a value of its kind that depends on `seed`.
  private func set(_ record: inout EventRecord, _ column: EventColumn, seed: Int) {
    switch column.kind {
    case .text: record.set(column, "\(column.name) \(seed) é")
    case .float8: record.set(column, Double(seed) / 7)
    case .int4, .int2: record.set(column, integer: -seed)
    case .timestamp: record.set(column, Timestamp(microseconds: Int64(-seed) * 1_000_003))
    case .bool: record.set(column, seed % 2 == 0)
    }
  }

  private func holds(_ record: EventRecord, _ column: EventColumn, seed: Int) -> Bool {
    switch column.kind {
    case .text: record.text(column) == "\(column.name) \(seed) é"
    case .float8: record.double(column) == Double(seed) / 7
    case .int4, .int2: record.integer(column) == -seed
    case .timestamp: record.timestamp(column)?.microseconds == Int64(-seed) * 1_000_003
    case .bool: record.bool(column) == (seed % 2 == 0)
    }
  }

  @Test func aRecordKeepsEachColumnsValueThroughOverwritingRemovalAndReuse() {
    var record = EventRecord()
    for round in 0..<3 {
      for column in EventColumn.allCases { set(&record, column, seed: column.rawValue) }
      // In the other order, so that texts lie elsewhere than the first time.
      for column in EventColumn.allCases.reversed() {
        set(&record, column, seed: column.rawValue + round)
      }
      for column in EventColumn.allCases {
        #expect(record.has(column))
        #expect(holds(record, column, seed: column.rawValue + round), "\(column)")
      }
      record.setNull(.place)
      #expect(!record.has(.place) && record.text(.place) == nil)
      #expect(record.text(.title) == "title \(EventColumn.title.rawValue + round) é")
      record.removeAll()
      #expect(EventColumn.allCases.allSatisfy { !record.has($0) })
    }
  }

  @Test func aRecordDistinguishesAnEmptyTextFromNone() {
    var record = EventRecord()
    record.set(.place, "")
    #expect(record.has(.place))
    #expect(record.text(.place) == "")
    #expect(record.withUTF8(.place) { $0?.count } == 0)
  }

  @Test func aColumnOfAnotherKindHasNoValue() {
    var record = EventRecord()
    for column in EventColumn.allCases {
      switch column.kind {
      case .text: record.set(column, "x")
      case .float8: record.set(column, 1e300)
      case .int4, .int2: record.set(column, integer: -1)
      case .timestamp: record.set(column, .latest)
      case .bool: record.set(column, true)
      }
    }
    for column in EventColumn.allCases {
      let kind = column.kind
      #expect((record.text(column) == nil) == (kind != .text), "\(column)")
      #expect((record.double(column) == nil) == (kind != .float8), "\(column)")
      #expect((record.integer(column) == nil) == (kind != .int4 && kind != .int2), "\(column)")
      #expect((record.timestamp(column) == nil) == (kind != .timestamp), "\(column)")
      #expect((record.bool(column) == nil) == (kind != .bool), "\(column)")
    }
  }

  @Test func aRecordHoldsTheExtremesOfEachKind() {
    var record = EventRecord()
    record.set(.felt, integer: Int(Int32.min))
    record.set(.tsunami, integer: Int(Int16.max))
    record.set(.time, .earliest)
    record.set(.updated, .latest)
    record.set(.magnitude, -Double.greatestFiniteMagnitude)
    record.set(.rms, Double.nan)
    record.set(.gap, -0.0)
    #expect(record.integer(.felt) == Int(Int32.min))
    #expect(record.integer(.tsunami) == Int(Int16.max))
    #expect(record.timestamp(.time) == .earliest)
    #expect(record.timestamp(.updated) == .latest)
    #expect(record.double(.magnitude) == -Double.greatestFiniteMagnitude)
    #expect(record.double(.rms)?.isNaN == true)
    // -0 and 0 are equal, and so are records with them.
    #expect(record.double(.gap)?.sign == .plus)
  }

  @Test func aNegativeZeroIsZero() {
    var first = EventRecord()
    first.set(.magnitude, -0.0)
    first.set(.longitude, 0)
    var second = EventRecord()
    second.set(.magnitude, 0)
    second.set(.longitude, -0.0)
    #expect(first == second && first.hashValue == second.hashValue)
  }

  @Test func aCopyDoesNotChangeWithItsRecord() {
    var first = EventRecord()
    first.set(.code, "us1")
    let second = first
    first.set(.code, "us2")
    #expect(second.text(.code) == "us1")
    #expect(first.text(.code) == "us2")
  }

  @Test(arguments: [
    ("us7000pn9s", "usgs"), ("emsc:20240424_0000123", "emsc"), ("simus6000abav", "simulated"),
    ("simtx2026abcd", "simulated"), ("simple1", "usgs"), ("simus", "usgs"), ("sim", "usgs"),
    ("simUS6000abav", "usgs"), ("sim:us6000", "sim"), ("ingv:simus6000abav", "ingv"), ("", "usgs"),
  ])
  func aCodeTellsItsCatalogue(code: String, source: String) {
    var record = EventRecord()
    record.set(.code, code)
    record.set(.source, source)
    #expect(record.codeTellsSource)
    #expect(record.isSimulated == (source == "simulated"))
    record.set(.source, "another")
    #expect(!record.codeTellsSource && !record.isSimulated)
  }

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
