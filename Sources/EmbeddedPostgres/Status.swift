extension EmbeddedServer {
  /// What is known about the server without talking to it.
  public struct Status: Equatable, Sendable {
    /// Whether the server accepts connections.
    public var running: Bool
    /// The postmaster's process id; also while the server is starting or stopping.
    public var pid: Int32?
    /// PostgreSQL's data folder.
    public var dataDirectory: String
    /// The folder of the unix socket.
    public var socketDirectory: String
    /// The data folder's major version, such as `15`; `nil` before it has been initialised.
    public var version: String?
    /// When the running postmaster started, in seconds since 1970-01-01T00:00:00Z.
    public var startedAt: Int64?
    /// The file that the server writes its log to at the moment, or would.
    public var logFile: String
  }

  /// What `startIfNeeded` had to do.
  public enum Outcome: Equatable, Sendable {
    /// Nothing: the server was running, or somebody else has just started it.
    case alreadyRunning
    /// It started the server on data that were there.
    case started
    /// It created the data folder, then started the server.
    case initialised
  }

  /// What `startIfNeeded` is busy with, for a message to a waiting user.
  public enum Phase: Equatable, Sendable {
    /// Somebody else is starting or stopping the server.
    case waitingForLock
    /// A new data folder is being made: some seconds, once.
    case initialising
    /// The server is starting.
    case starting
    /// The server was not shut down cleanly and is replaying its log; this can take long.
    case recovering
  }

  /// How to stop the server, as in `pg_ctl stop -m`.
  public enum StopMode: Equatable, Sendable {
    /// Wait until the last client has gone.
    case smart
    /// Roll back what is open, disconnect everybody, write a checkpoint.
    case fast
    /// Stop dead; the next start recovers from the log.
    case immediate
  }
}
