/// The migrations as the binaries carry them, in order.
///
/// SwiftPM makes each symbol from the file's name and puts `_` in place of a digit that begins it. A
/// test compares this list with the folder.
public enum EmbeddedMigrations {
  /// A migration's file name and its bytes.
  public static let files: [(name: String, bytes: [UInt8])] = [
    ("0001_events.sql", PackageResources._001_events_sql),
    ("0002_imports.sql", PackageResources._002_imports_sql),
    ("0003_history.sql", PackageResources._003_history_sql),
    ("0004_retention.sql", PackageResources._004_retention_sql),
    ("0005_workers.sql", PackageResources._005_workers_sql),
  ]
}
