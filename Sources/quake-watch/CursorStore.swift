import Postgres
import QuakeHistory
import QuakeModel
import QuakeTool

/// Where a watcher's cursor is stored for the next one.
enum CursorStore {
  /// Nowhere.
  case none
  /// In a file.
  case file(StateFile)
  /// In the database, under a name.
  case database(DurableCursor)

  /// The stored cursor; nil if there is none yet.
  func load(over connection: Connection) throws -> HistoryCursor? {
    switch self {
    case .none: nil
    case .file(let file): try file.load()
    case .database(let durable): try durable.take(over: connection)
    }
  }

  /// Stores the cursor that the watcher begins at.
  func begin(at cursor: HistoryCursor, over connection: Connection) throws {
    if case .database(let durable) = self {
      try durable.begin(at: cursor, over: connection)
    } else {
      try save(cursor, over: connection)
    }
  }

  /// Stores a cursor. Everything up to there must have been handed over.
  func save(_ cursor: HistoryCursor, over connection: Connection) throws {
    switch self {
    case .none: break
    case .file(let file): try file.save(cursor)
    case .database(let durable): try durable.move(to: cursor, over: connection)
    }
  }

  /// Records that the watcher is alive although its cursor has not moved.
  func touch(over connection: Connection) throws {
    if case .database(let durable) = self { try durable.touch(over: connection) }
  }
}
