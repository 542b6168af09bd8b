/// A role of a Quake database, named after the task of its programs or persons.
public enum Role: String, CaseIterable, Sendable {
  /// Owns the schema and migrates.
  case owner
  /// Imports feeds: `quake-ingest`.
  case writer
  /// Changes events by hand: `quake-admin events`, SQL; also the worker that expires old events.
  case editor
  /// Reads: `quake-watch` without a name, `quake-query`, SQL.
  case reader
  /// Reads, and keeps its own cursor in the database: `quake-watch --name`.
  case watcher
  /// Purges the history and removes cursors.
  case purger
  /// Monitors: `quake-admin status`.
  case monitor

  /// Its task, as a phrase.
  public var purpose: String {
    switch self {
    case .owner: "owns the schema and migrates"
    case .writer: "imports feeds (quake-ingest), decides on quarantined snapshots"
    case .editor: "changes events by hand"
    case .reader: "reads: quake-watch, quake-query, SQL"
    case .watcher: "reads, and keeps its own cursor: quake-watch --name"
    case .purger: "purges the history and removes cursors of watchers"
    case .monitor: "monitors: quake-admin status"
    }
  }

  /// All except the owner, which needs no privileges on its own objects.
  static let granted: [Role] = [.writer, .editor, .reader, .watcher, .purger, .monitor]
  /// The roles that may read everything that is not private.
  static let readers: [Role] = [.editor, .reader, .watcher]
}
