public import Basics

/// No database is named, and the embedded server has not been created by a command that may.
public struct NoDatabase: ExplainedError {
  /// The folder in which the embedded server would be.
  public let home: String

  /// There is no embedded server in this folder.
  public init(home: String) { self.home = home }

  /// Says that there is no database, and names two ways to get one.
  public var message: String { "no database here yet: run `quake-ingest run`, or give `-d`" }

  /// Where it was looked for.
  public var detail: String? {
    "No database is named, and \"\(home)\" has no embedded server. Each Unix account has its own."
  }

  /// Other commands that create one.
  public var hint: String? {
    "\"quake-ingest import FILE\" and \"quake-admin server start\" create it, too."
  }

  /// The database is not available.
  public var category: ErrorCategory { .unavailable }
}
