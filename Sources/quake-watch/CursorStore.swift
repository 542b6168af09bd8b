import Postgres
import QuakeHistory
import QuakeModel
import QuakeTool

/// Where the place that a watcher has come to is kept for the next one.
enum CursorStore {
  /// Nowhere.
  case none
  /// In a file.
  case file(StateFile)
  /// In the database, under a name.
  case cursor(DurableCursor)

  /// The place that is kept; nil if there is none yet.
  func load(over connection: Connection) throws -> HistoryCursor? {
    switch self {
    case .none: nil
    case .file(let file): try file.load()
    case .cursor(let cursor): try cursor.take(over: connection)
    }
  }

  /// Keeps the place that the watcher begins at.
  func begin(at place: HistoryCursor, over connection: Connection) throws {
    if case .cursor(let cursor) = self {
      try cursor.begin(at: place, over: connection)
    } else {
      try save(place, over: connection)
    }
  }

  /// Keeps a place. Everything up to there must have been handed over.
  func save(_ place: HistoryCursor, over connection: Connection) throws {
    switch self {
    case .none: break
    case .file(let file): try file.save(place)
    case .cursor(let cursor): try cursor.move(to: place, over: connection)
    }
  }

  /// Says that the watcher is alive although there is nothing to keep.
  func touch(over connection: Connection) throws {
    if case .cursor(let cursor) = self { try cursor.touch(over: connection) }
  }
}
