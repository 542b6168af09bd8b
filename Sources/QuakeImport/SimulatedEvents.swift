package import Postgres
internal import QuakeModel

/// The events that the simulator has invented: they never happened, and a store that has others refuses them.
package enum SimulatedEvents {
  package static func exist(over connection: Connection) throws(PostgresError) -> Bool {
    // Their codes are a range of the primary key.
    try connection.row(
      """
      select exists (select from quake.quake
                      where code >= 'sim' and code < 'sin' and source = 'simulated')
      """, as: Bool.self)
  }

  /// Throws an `ImportRefusal` if the store has events of other sources. Rows that no feed wrote do not count.
  package static func refuse(besideOthersOver connection: Connection) throws {
    if let other = try otherSource(over: connection) {
      throw refusal(beside: other, done: "Nothing was imported. ")
    }
  }

  /// - Parameter done: What was imported, as a sentence.
  static func refusal(beside other: String, done: String = "") -> ImportRefusal {
    ImportRefusal(
      "cannot import simulated events beside real ones",
      detail: "\(done)The others are of the source \"\(other)\".",
      hint:
        "Import them into a database of their own; --mix-simulated stores them beside the others."
    )
  }

  /// The source of an event that is neither simulated nor written by hand; nil: there is none.
  static func otherSource(over connection: Connection) throws(PostgresError) -> String? {
    // In the order of the codes, so that the simulated ones, which may be many, are not read.
    try connection.row(
      """
      select coalesce(
        (select source from quake.quake
          where code < 'sim' and source not in ('simulated', 'local') order by code limit 1),
        (select source from quake.quake
          where code >= 'sin' and source not in ('simulated', 'local') order by code limit 1))
      """, as: String?.self)
  }
}

/// Checks that either all records of a source are simulated or none is.
struct MixtureCheck {
  private var hasSimulated = false
  /// A source of events that happened, in the store or among the records; nil: none is known.
  private var other: String?

  /// - Parameter first: The first record; nil: it was rejected.
  init(first: EventRecord?, over connection: Connection) throws {
    if let first {
      hasSimulated = first.isSimulated
      other = Self.realSource(of: first)
    }
    // After a first record that is real the contents of the store do not matter.
    if hasSimulated {
      try SimulatedEvents.refuse(besideOthersOver: connection)
    } else if other == nil {
      other = try SimulatedEvents.otherSource(over: connection)
    }
  }

  /// The record's source, if that is a catalogue of events that happened.
  private static func realSource(of record: EventRecord) -> String? {
    guard !record.isSimulated, let source = record.source, source != "local" else {
      return nil
    }
    return source
  }

  /// Adds a later record; throws if it mixes simulated events with others.
  mutating func add(_ record: EventRecord) throws {
    if record.isSimulated {
      hasSimulated = true
    } else if other == nil {
      other = Self.realSource(of: record)
    }
    guard hasSimulated, let other else { return }
    // An import that commits more than once may have stored the records before.
    throw SimulatedEvents.refusal(beside: other)
  }
}
