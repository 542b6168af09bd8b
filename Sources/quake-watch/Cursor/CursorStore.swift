import QuakeHistory
import QuakeModel

/// Where a watcher's cursor is stored for the next one.
enum CursorStore {
  /// Nowhere.
  case none
  /// In a file.
  case file(StateFile)
  /// In the database that is followed, under a name.
  case database(DurableCursor, DatabaseSource)

  /// The stored cursor; nil if there is none yet.
  func load() throws -> HistoryCursor? {
    switch self {
    case .none: nil
    case .file(let file): try file.load()
    case .database(let durable, let source): try durable.take(over: source.connected())
    }
  }

  /// Stores the cursor that the watcher begins at.
  func begin(at cursor: HistoryCursor) throws {
    if case .database(let durable, let source) = self {
      try durable.begin(at: cursor, over: source.connected())
    } else {
      try save(cursor)
    }
  }

  /// Stores a cursor. Everything up to there must have been handed over.
  func save(_ cursor: HistoryCursor) throws {
    switch self {
    case .none: break
    case .file(let file): try file.save(cursor)
    case .database(let durable, let source): try durable.move(to: cursor, over: source.connected())
    }
  }

  /// Records that the watcher is alive although its cursor has not moved.
  func touch() throws {
    if case .database(let durable, let source) = self {
      try durable.touch(over: source.connected())
    }
  }
}
