internal import Postgres
internal import QuakeModel

/// The records of a source, of which either all are simulated or none is.
struct UnmixedSource<Base: ImportSource>: ImportSource {
  /// The source itself.
  var base: Base
  private var hasSimulated = false
  /// A source of events that happened, in the store or in `base`; nil: none is known.
  private var other: String?

  /// - Parameters:
  ///   - base: The source.
  ///   - first: Its first record, which has been read into `record`; nil: it has none.
  init(
    _ base: Base, first: ImportItem?, _ record: QuakeRecord, over connection: Connection
  ) throws {
    self.base = base
    guard let first else { return }
    if case .record = first {
      hasSimulated = record.isSimulated
      other = Self.realSource(of: record)
    }
    // After a first record that is real the contents of the store do not matter.
    if hasSimulated {
      try SimulatedEvents.refuse(besideOthersOver: connection)
    } else if other == nil {
      other = try SimulatedEvents.otherSource(over: connection)
    }
  }

  /// The record's source, if that is a catalogue of events that happened.
  private static func realSource(of record: QuakeRecord) -> String? {
    guard !record.isSimulated, let source = record.text(.source), source != "local" else {
      return nil
    }
    return source
  }

  mutating func next(into record: inout QuakeRecord) throws -> ImportItem? {
    let item = try base.next(into: &record)
    guard case .record = item else { return item }
    if record.isSimulated {
      hasSimulated = true
    } else if other == nil {
      other = Self.realSource(of: record)
    }
    guard hasSimulated, let other else { return item }
    // An import that commits more than once may have stored the records before.
    throw SimulatedEvents.refusal(beside: other)
  }

  var columns: [QuakeColumn] { base.columns }
  var inferredColumns: Set<QuakeColumn> { base.inferredColumns }
  var format: String { base.format }
  var generated: Timestamp? { base.generated }
  var mayTellGenerated: Bool { base.mayTellGenerated }
  var bytesRead: Int64 { base.bytesRead }

  func withBody(_ part: (UnsafeRawBufferPointer) throws -> Void) throws {
    try base.withBody(part)
  }
}
