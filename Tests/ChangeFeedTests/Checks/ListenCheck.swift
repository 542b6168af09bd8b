import EmbeddedPostgres
import TestSupport

/// A change committed while a watcher begins to listen does not wait until the watcher reads the history
/// without a notification, a second later.
enum ListenCheck {
  private static let prompt = Duration.milliseconds(500)
  /// A busy machine may delay any watcher, but not this many one after the other.
  private static let mostRounds = 20

  /// The watcher's `listen` is held up until a change has been committed, until a watcher has been prompt. Without
  /// the notification, none is.
  ///
  /// - Parameter tool: The program; nil is the built one.
  static func run(tool: String?, in database: TestDatabase) throws -> Violations {
    var violations = Violations(feed: "listen")
    let socket = try TestServer.shared.server.status().socketDirectory + "/.s.PGSQL.5432"
    let proxy = try FaultyProxy(to: socket)
    defer { proxy.stop() }
    let connection = try database.connect()
    var delays: [Duration] = []
    for round in 1...mostRounds where !delays.contains(where: { $0 <= prompt }) {
      let hold = proxy.hold("listen quake_changes")
      let feed = try FeedProcess(
        proxy.conninfo(database: database.name, user: "quake"), [], tool: tool)
      try hold.isHeld.require("the watcher listens")
      try connection.run("insert into quake.quake (code, time) values ('\(round)', now())")
      let begun = ContinuousClock.now
      hold.mayPass.happen()
      try feed.waitForLines(1)
      delays.append(ContinuousClock.now - begun)
      try feed.stop()
    }
    if let least = delays.min(), least > prompt {
      violations.add(.late, "never sooner than \(least)")
    }
    return violations
  }
}
