import Postgres
import QuakeModel
import Testing

@testable import QuakeImport

/// Records for an import, from memory.
struct FakeSource: ImportSource {
  enum Item {
    case record(EventRecord)
    case reject(ImportReject)
    /// Code that runs when this item is read; may throw.
    case action(() throws -> Void)
  }

  private let items: [Item]
  private var position = 0
  var columns: [EventColumn] = EventColumn.feed
  var inferredColumns: Set<EventColumn> = []
  let format = "fake"
  var generated: Timestamp?
  var mayTellGenerated = true
  var bytesRead: Int64 { Int64(position) * 100 }
  var body = ""

  func withBody(_ part: (UnsafeRawBufferPointer) throws -> Void) throws {
    if !body.isEmpty { try Array(body.utf8).withUnsafeBytes { try part($0) } }
  }

  init(_ items: [Item], generated: String? = nil, columns: [EventColumn] = EventColumn.feed) {
    self.items = items
    self.generated = generated.flatMap { Timestamp(iso8601: $0) }
    self.columns = columns
  }

  init(
    _ records: [EventRecord], generated: String? = nil, columns: [EventColumn] = EventColumn.feed
  ) {
    self.init(records.map { .record($0) }, generated: generated, columns: columns)
  }

  /// Records that were generated at an hour of 2024-01-01; nil: at an unknown time.
  init(_ records: [EventRecord], hour: Int?, columns: [EventColumn] = EventColumn.feed) {
    self.init(
      records, generated: hour.map { "2024-01-01T0\($0):00:00Z" }, columns: columns)
  }

  mutating func next(into record: inout EventRecord) throws -> ImportItem? {
    while position < items.count {
      position += 1
      switch items[position - 1] {
      case .record(let next):
        record = next
        return .record
      case .reject(let reject): return .reject(reject)
      case .action(let action): try action()
      }
    }
    return nil
  }
}

extension Connection {
  /// Imports what a source has, and checks that the counts of the report add up.
  @discardableResult
  func load(
    _ source: FakeSource, helpers: [Connection] = [],
    _ change: (inout ImportOptions) -> Void = { _ in }
  ) throws -> ImportReport {
    try load(source, helpers: helpers, reopen: nil, change)
  }

  /// The same, of a source that can be opened again.
  @discardableResult
  func load(
    _ source: FakeSource, helpers: [Connection] = [], reopen: Importer.Reopen<FakeSource>?,
    _ change: (inout ImportOptions) -> Void = { _ in }
  ) throws -> ImportReport {
    try load(source, helpers: helpers, by: { try $0.run(from: &$1, reopen: reopen) }, change)
  }

  /// The same, by a call with other parameters.
  @discardableResult
  func load(
    _ source: FakeSource, helpers: [Connection] = [],
    by call: (Importer, inout FakeSource) throws -> ImportReport,
    _ change: (inout ImportOptions) -> Void = { _ in }
  ) throws -> ImportReport {
    var source = source
    var options = ImportOptions(source: "-", feed: "f", program: "tests 1", author: "a")
    change(&options)
    let report = try call(
      Importer(connection: self, options: options, helpers: helpers), &source)
    let counted =
      report.inserted + report.updated + report.unchanged + report.rejected + report.duplicate
    #expect(report.quarantine != nil || report.seen == counted)
    #expect(report.stale <= report.unchanged)
    return report
  }
}

extension EventRecord {
  /// An event of a feed.
  init(
    _ code: String, magnitude: Double? = 5, place: String? = nil, ids: String? = nil,
    source: String = "usgs"
  ) {
    self.init()
    set(.code, code)
    set(.source, source)
    set(.time, Timestamp(microseconds: 1_700_000_000_000_000))
    if let magnitude { set(.magnitude, magnitude) }
    if let place { set(.place, place) }
    if let ids { set(.ids, ids) }
  }
}

extension ImportReject {
  static func numbered(_ number: Int) -> ImportReject {
    ImportReject(place: "line \(number)", reason: "no \(number)", raw: "{\"raw\":\(number)} é")
  }
}
