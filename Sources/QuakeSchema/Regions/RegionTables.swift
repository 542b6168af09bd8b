internal import Postgres

/// What becomes of each table of the schema at a region. A test compares it with the schema, so that a new table is
/// neither forgotten nor replicated by chance.
package enum RegionTables {
  /// How a region has a table.
  package enum Treatment: Sendable, Equatable {
    /// As the centre has it.
    case copied
    /// As the centre has it, except that the region itself deletes rows.
    case purgedHere
    /// The region has its own, for this reason.
    case own(String)
  }

  /// The tables without their schema, and how a region has each of them.
  package static let all: [(name: String, treatment: Treatment)] = [
    ("quake", .copied),
    ("quake_version", .purgedHere),
    ("change_transaction", .purgedHere),
    ("history_floor", .copied),
    ("past_place", .purgedHere),
    ("past_day", .copied),
    ("past_time", .copied),
    ("past_noted", .copied),
    // "as_of_feed" reads when the snapshots of imports were generated.
    ("import", .copied),
    ("quake_alias", .copied),
    ("association", .copied),
    // Readers see them, and a database that ceases to be a region goes on with them.
    ("association_pin", .copied),
    ("association_preference", .copied),
    ("association_settings", .copied),
    ("tombstone", .copied),
    ("edit", .copied),
    ("edit_transaction", .copied),
    ("migration", .own("each database is migrated for itself")),
    ("regional_database", .own("it says which database this is")),
    ("watcher", .own("readers of a region have their cursors there")),
    ("watcher_removal", .own("it belongs to the cursors")),
    ("consumer", .own("a consumer that ran in both places would deliver twice")),
    ("conversation", .own("it belongs to the consumers")),
    ("conversation_past", .own("it belongs to the consumers")),
    ("conversation_event", .own("it belongs to the consumers")),
    ("delivery", .own("it belongs to the consumers")),
    ("feed", .own("workers poll feeds at the centre, and its addresses and lock keys are private")),
    ("refresh_request", .own("workers answer requests at the centre")),
    ("absence", .own("it is the state of imports, which run at the centre")),
    ("import_reject", .own("it holds raw records of feeds, which nobody reads elsewhere")),
    ("import_body", .own("it holds quarantined snapshots, which the centre decides about")),
    ("backfill", .own("it is the state of imports, which run at the centre")),
    ("backfill_window", .own("it is the state of imports, which run at the centre")),
    ("backfill_file", .own("it is the state of imports, which run at the centre")),
    ("association_pending", .own("it is the queue of associations, which run at the centre")),
    ("expiry", .own("it is the lock of expiry, which runs at the centre")),
    ("change_pending", .own("it is empty outside of transactions")),
    ("commit_lock", .own("it is a lock and has no rows")),
    ("table_size", .own("each database has its own sizes")),
  ]

  package struct Publication: Sendable {
    package let name: String
    /// Its tables with their schema, by name.
    package let tables: [String]
    /// What it publishes, as PostgreSQL writes it.
    package let operations: String
  }

  /// The publications that a region subscribes to.
  package static let publications = [
    Publication(
      name: "quake_region", tables: tables(.copied), operations: "insert, update, delete, truncate"),
    Publication(
      name: "quake_region_history", tables: tables(.purgedHere),
      operations: "insert, update, truncate"),
  ]

  /// The replicated tables with their schema, by name.
  package static let replicated = publications.flatMap(\.tables).sorted()

  /// The beginning of the names of slots and subscriptions, which the name of the region follows.
  package static let prefix = "quake_region_"

  /// The migration that made regions.
  package static let firstSchema = 23

  private static func tables(_ treatment: Treatment) -> [String] {
    all.filter { $0.treatment == treatment }.map { "quake.\($0.name)" }.sorted()
  }

  /// The replicated tables as a list of names in a statement.
  static func list(_ tables: [String]) -> SQL { SQL(trusted: tables.joined(separator: ", ")) }
}
