import Glibc

/// A private PostgreSQL for those who have not named a database: found, initialised, started and
/// stopped without anybody having to know how.
///
/// It listens on a unix socket in a folder that only its account can enter. It runs in a session
/// of its own and outlives the program that started it. Everything that changes it happens under a
/// lock on a file, so that any number of programs may call `startIfNeeded` at once and all end up
/// with the same server; a program that dies in the middle, by whatever signal, leaves nothing that
/// the next one cannot clear up.
///
/// The calls block; use them from a thread that may.
public struct EmbeddedServer: Sendable {
  /// The options it was made with.
  public let options: Options
  let folder: Folder
  let account: Account

  /// A server described by `options`; nothing is created or started yet.
  ///
  /// Throws if the folder's path cannot be used, or if the caller is root and the account to run
  /// the server as does not exist.
  public init(_ options: Options) throws(EmbeddedServerError) {
    self.options = options
    account = try Account(options: options)
    folder = try Folder(home: options.home, user: account.user)
  }

  /// How libpq reaches the server once it runs: a keyword/value string.
  public var conninfo: String {
    "host=\(Self.quoted(folder.socket)) port=\(Folder.port) dbname=quake user=quake"
  }

  /// The folder of PostgreSQL's programs that the server is run with.
  public var binDirectory: String {
    get throws(EmbeddedServerError) {
      try Binaries.find(options, preferring: folder.dataVersion).directory
    }
  }

  /// The `psql` to talk to the server with: the server's own, or else the first in the search
  /// path.
  public var psqlPath: String {
    get throws(EmbeddedServerError) {
      var folders = options.searchPath
      if let own = try? binDirectory { folders.insert(own, at: 0) }
      for folder in folders where access(folder + "/psql", X_OK) == 0 { return folder + "/psql" }
      throw EmbeddedServerError(
        .configuration, "could not find the program \"psql\"",
        hint: "Install it (on Debian: apt install postgresql-client).")
    }
  }

  /// Makes sure that the server runs and accepts connections, and says what that took.
  ///
  /// If it runs already this costs a small file read and one `connect`. `progress` is told about
  /// anything that may take longer.
  @discardableResult
  public func startIfNeeded(
    progress: ((Phase) -> Void)? = nil
  ) throws(EmbeddedServerError) -> Outcome {
    if Postmaster.isAcceptingConnections(folder) { return .alreadyRunning }
    return try start(progress: progress ?? { _ in })
  }

  /// The same as `startIfNeeded()`, for those who don't ask what it took.
  public func start() throws(EmbeddedServerError) {
    try startIfNeeded()
  }

  /// Stops the server and waits until it has gone; says whether it was running at all.
  @discardableResult
  public func stop(
    mode: StopMode = .fast, timeout: Duration = .seconds(60)
  ) throws(EmbeddedServerError) -> Bool {
    try shutDown(mode: mode, timeout: timeout)
  }

  /// Whether the server ended without being stopped: its process is gone, the file that it removes
  /// when it is stopped is not.
  public var hasCrashed: Bool {
    access(folder.pidFile, F_OK) == 0 && Postmaster.current(folder) == nil
  }

  /// What is known about the server without starting it, and without waiting for anybody.
  public func status() throws(EmbeddedServerError) -> Status {
    try folder.checkAccess()
    let postmaster = Postmaster.current(folder)
    return Status(
      running: postmaster != nil && Postmaster.isAcceptingConnections(folder),
      pid: postmaster?.pid,
      dataDirectory: folder.data,
      socketDirectory: folder.socket,
      version: folder.dataVersion,
      startedAt: postmaster?.startedAt,
      logFile: folder.currentLogFile)
  }

  /// A value of a conninfo string, quoted if it has to be.
  private static func quoted(_ value: String) -> String {
    let plain = value.utf8.allSatisfy { byte in
      byte != UInt8(ascii: " ") && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "\\")
    }
    if plain { return value }
    var text = "'"
    for character in value {
      if character == "'" || character == "\\" { text.append("\\") }
      text.append(character)
    }
    return text + "'"
  }
}
