internal import Postgres
internal import QuakeModel

/// A source that an import reads, and the item that was read last and is not imported yet.
struct ImportReader<Source: ImportSource> {
  var source: Source
  /// The item; nil before the first, and after the last.
  private(set) var item: ImportItem?
  /// Its record, if it is one.
  private(set) var record = EventRecord()
  private var mixture: MixtureCheck?

  init(_ source: Source) {
    self.source = source
  }

  /// Reads the next item.
  mutating func advance() throws {
    item = try source.next(into: &record)
    if case .record = item { try mixture?.add(record) }
  }

  /// The record that was read last; nil if the item is not a record.
  var currentRecord: EventRecord? { if case .record = item { record } else { nil } }

  /// Refuses this item and all later ones that would mix simulated events with others.
  mutating func refuseMixture(over connection: Connection) throws {
    if item != nil { mixture = try MixtureCheck(first: currentRecord, over: connection) }
  }
}
