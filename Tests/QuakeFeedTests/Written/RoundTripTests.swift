import QuakeFeed
import QuakeFormat
import QuakeModel
import Testing

/// What is written in a format is read from it again.
@Suite struct RoundTripTests {
  private static let readable: [(ExportFormat, FeedFormat)] = [
    (.geojson, .usgsGeoJSON), (.csv, .usgsCSV), (.ndjson, .ndjson), (.fdsnText, .fdsnText),
    (.quakeml, .quakeML),
  ]

  @Test(arguments: readable)
  func everyValueThatAFormatHasComesBackExactly(format: ExportFormat, read: FeedFormat) throws {
    var source = HostileEvents(seed: 16)
    // CSV has no empty text that is not a missing one.
    let events = (0..<150).map { _ in source.next(hasEmptyTexts: format != .csv) }
    let bytes = Document.bytes(format, events)
    for pieceSize in [Int.max, 4096] {
      let contents = try Document.read(bytes, pieceSize: pieceSize)
      #expect(contents.format == read)
      try #require(contents.rejects.isEmpty, "\(contents.rejects.first?.reason ?? "")")
      try #require(contents.records.count == events.count)
      let columns = contents.columns.filter { !contents.inferredColumns.contains($0) }
      for (event, record) in zip(events, contents.records) {
        let (before, after) = (event.values(of: columns), record.values(of: columns))
        // Texts that only look alike are not the same.
        let isSame = before.map { Array($0.utf8) } == after.map { Array($0.utf8) }
        try #require(isSame, "\(before) became \(after)")
      }
    }
  }

  @Test(arguments: [ExportFormat.geojson, .ndjson, .quakeml])
  func anIdentityOfEmptyTextsComesBack(format: ExportFormat) throws {
    var source = HostileEvents(seed: 1)
    var event = source.next(hasEmptyTexts: false)
    for column in [EventColumn.source, .net, .netCode] { event.set(column, "") }
    // The first event of lines tells the columns.
    let contents = try Document.read(
      Document.bytes(format, [source.next(hasEmptyTexts: false), event]))
    #expect(contents.rejects.isEmpty)
    let record = try #require(contents.records.last)
    for column in [EventColumn.source, .net, .netCode] {
      #expect(record.has(column) && record.text(column) == "", "\(column.name)")
    }
  }

  @Test(arguments: readable)
  func anEmptyDocumentHasNoEvents(format: ExportFormat, read: FeedFormat) throws {
    let bytes = Document.bytes(format, [])
    guard format != .ndjson else { return #expect(bytes.isEmpty) }
    let contents = try Document.read(bytes)
    #expect(contents.records.isEmpty)
    #expect(contents.rejects.isEmpty)
    #expect(contents.format == read)
  }

  @Test(arguments: readable)
  func eventsThatAreNoLongerTheirOwnAreReadAsDeleted(format: ExportFormat, read: FeedFormat) throws
  {
    var source = HostileEvents(seed: 7)
    var events = (0..<20).map { _ in source.next(hasEmptyTexts: false) }
    for index in events.indices {
      switch index % 3 {
      case 0: events[index].set(.withdrawnAt, Timestamp(microseconds: 0))
      case 1: events[index].set(.supersededBy, "us1")
      default: break
      }
    }
    let contents = try Document.read(Document.bytes(format, events))
    #expect(contents.rejects.isEmpty)
    #expect(
      contents.records.map(\.isDeletion) == events.indices.map { $0 % 3 < 2 })
  }

  @Test func whenADocumentWasGeneratedIsRead() throws {
    var source = HostileEvents(seed: 1)
    let events = [source.next(hasEmptyTexts: false)]
    for format in [ExportFormat.geojson, .quakeml] {
      let contents = try Document.read(Document.bytes(format, events))
      #expect(contents.metadata.generated == Document.head.generated)
    }
  }

  @Test func aNamedCentreDoesNotChangeAnExportOfText() throws {
    var source = HostileEvents(seed: 3)
    let events = (0..<10).map { _ in source.next(hasEmptyTexts: false) }
    let bytes = Document.bytes(.fdsnText, events)
    let contents = try Document.read(bytes, centre: .usgs)
    for (event, record) in zip(events, contents.records) {
      #expect(event.text(.code) == record.text(.code))
      #expect(event.text(.source) == record.text(.source))
    }
  }
}
