package import Postgres

/// The events that the simulator has invented: they never happened, and a store that has others refuses them.
package enum SimulatedEvents {
  /// Whether a store has any.
  package static func exist(over connection: Connection) throws(PostgresError) -> Bool {
    // Their codes are a range of the primary key.
    try connection.execute(
      """
      select exists (select from quake.quake
                      where code >= 'sim' and code < 'sin' and source = 'simulated')
      """
    ).bool(0, 0) ?? false
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
    try connection.execute(
      """
      select coalesce(
        (select source from quake.quake
          where code < 'sim' and source not in ('simulated', 'local') order by code limit 1),
        (select source from quake.quake
          where code >= 'sin' and source not in ('simulated', 'local') order by code limit 1))
      """
    ).text(0, 0)
  }
}
