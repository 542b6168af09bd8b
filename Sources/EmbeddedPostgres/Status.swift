extension EmbeddedServer {
  /// The state of the server, determined without a connection to it.
  public struct Status: Equatable, Sendable {
    /// Whether the server accepts connections.
    public var running: Bool
    /// The postmaster's process id; also while the server is starting or stopping.
    public var pid: Int32?
    /// PostgreSQL's data folder.
    public var dataDirectory: String
    /// The folder of the unix socket.
    public var socketDirectory: String
    /// The data folder's major version, such as `15`; `nil` if there is no data folder yet.
    public var version: String?
    /// When the running postmaster started, in seconds since 1970-01-01T00:00:00Z.
    public var startedAt: Int64?
    /// The server's present log file, or the one that it will open.
    public var logFile: String
  }

  /// The result of `startIfNeeded`.
  public enum Outcome: Equatable, Sendable {
    /// The server was running, or another program has just started it.
    case alreadyRunning
    /// It started the server with an existing data folder.
    case started
    /// It created the data folder, then started the server.
    case initialised
  }

  /// A phase of `startIfNeeded`, for a message to a waiting user.
  public enum Phase: Equatable, Sendable {
    /// Another program is starting or stopping the server.
    case waitingForLock
    /// A new data folder is being created, which takes some seconds.
    case initialising
    /// The server is starting.
    case starting
    /// The server is replaying its write-ahead log after a crash, which can take long.
    case recovering
    /// Another program has the TCP port, so that the server listens on its Unix socket only.
    case portInUse(Int)
  }

  /// How to stop the server, as in `pg_ctl stop -m`.
  public enum StopMode: Equatable, Sendable {
    /// Wait until the last client has disconnected.
    case smart
    /// Roll back open transactions, disconnect all clients, write a checkpoint.
    case fast
    /// Stop at once; the next start recovers from the write-ahead log.
    case immediate
  }
}
