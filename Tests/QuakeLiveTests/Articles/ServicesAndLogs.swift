import QuakeStore

// What swift-service-lifecycle and swift-log declare; a program that depends on them imports these instead.

protocol Service: Sendable {
  func run() async throws
}

struct Logger: Sendable {
  enum Level: String {
    case trace, debug, info, notice, warning, error, critical
  }

  let write: @Sendable (Level, String) -> Void

  func log(level: Level, _ message: String) { write(level, message) }
}

/// A database that tells a logger what happens beside the results of its calls.
func openDatabase(_ url: String, logger: Logger) -> QuakeDatabase {
  QuakeDatabase(url, applicationName: "map") { event in
    logger.log(level: .init(rawValue: event.level.rawValue) ?? .info, "\(event.message)")
  }
}

extension FeedFollower: Service {}

/// Handles the changes to strong events for as long as the services of the program run.
struct Alerts: Service {
  let database: QuakeDatabase
  let alert: @Sendable (Change) async throws -> Void

  func run() async throws {
    for try await change in database.changes(EventQuery(where: .magnitude >= 6)) {
      try await alert(change)
    }
  }
}
