import QuakeModel

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

  init(_ records: [EventRecord], generated: String? = nil) {
    self.init(records.map { .record($0) }, generated: generated)
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
