/// The migrations as the binaries carry them, in order.
///
/// SwiftPM makes each symbol from the file's name and puts `_` in place of a digit that begins it. A
/// test compares this list with the folder.
public enum EmbeddedMigrations {
  /// A migration's file name and its bytes.
  public static let files: [(name: String, bytes: [UInt8])] = [
    ("0001_quake.sql", PackageResources._001_quake_sql),
    ("0002_history.sql", PackageResources._002_history_sql),
    ("0003_retention.sql", PackageResources._003_retention_sql),
    ("0004_queries.sql", PackageResources._004_queries_sql),
    ("0005_judging.sql", PackageResources._005_judging_sql),
    ("0006_workers.sql", PackageResources._006_workers_sql),
    ("0007_backfill.sql", PackageResources._007_backfill_sql),
    ("0008_commit.sql", PackageResources._008_commit_sql),
    ("0009_commit_lock.sql", PackageResources._009_commit_lock_sql),
    ("0010_text_lengths.sql", PackageResources._010_text_lengths_sql),
    ("0011_own_columns.sql", PackageResources._011_own_columns_sql),
    ("0012_polling.sql", PackageResources._012_polling_sql),
    ("0013_privileges.sql", PackageResources._013_privileges_sql),
  ]
}
