import QuakeModel
import Testing

@Suite struct EventRecordTests {
  @Test func aRecordHasNoValueInAnyColumnAtFirst() {
    let record = EventRecord()
    for column in EventColumn.allCases { #expect(!record.has(column), "\(column)") }
    #expect(record.text(.code) == nil)
    #expect(record.double(.magnitude) == nil)
    #expect(record.integer(.felt) == nil)
    #expect(record.timestamp(.time) == nil)
    #expect(record.bool(.validated) == nil)
    #expect(record.withUTF8(.place) { $0 == nil })
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
    var json = JSONWriter()
    json.double(first.double(.magnitude))
    #expect(String(decoding: json.bytes, as: UTF8.self) == "0")
  }

  @Test func aCopyDoesNotChangeWithItsRecord() {
    var first = EventRecord()
    first.set(.code, "us1")
    let second = first
    first.set(.code, "us2")
    #expect(second.text(.code) == "us1")
    #expect(first.text(.code) == "us2")
  }

  private struct Refusal: Error {}

  @Test func aRecordRethrowsTheErrorOfABody() {
    var record = EventRecord()
    record.set(.code, "us1")
    #expect(throws: Refusal.self) {
      try record.withUTF8(.code) { (_: UnsafeRawBufferPointer?) throws(Refusal) in
        throw Refusal()
      }
    }
  }
}
