import Glibc

/// A private PostgreSQL server for users who have not named a database. It is found, initialised, started and
/// stopped automatically.
///
/// It listens on a Unix socket in a folder that only its account can enter. It runs in a session of its own,
/// and continues after the program that started it. A lock on a file guards all changes, so that several
/// programs may call `startIfNeeded` at once and use the same server. If a program is killed during a change,
/// the next one cleans up.
///
/// The calls block: do not call them from tasks of Swift's concurrency pool.
public struct EmbeddedServer: Sendable {
  /// The options of the server.
  public let options: Options
  let folder: Folder
  let account: Account

  /// A server with `options`. Nothing is created or started yet.
  ///
  /// Throws if the folder's path is not valid, or if the caller is root and the server's account does not
  /// exist.
  public init(_ options: Options) throws(EmbeddedServerError) {
    self.options = options
    account = try Account(options: options)
    folder = try Folder(home: options.home, user: account.user)
  }

  /// The conninfo of the server, in keyword/value form.
  public var conninfo: String {
    "host=\(Self.quoted(folder.socket)) port=\(Folder.port) dbname=quake user=quake"
  }

  /// The folder of the PostgreSQL programs that the server uses.
  public var binDirectory: String {
    get throws(EmbeddedServerError) {
      try Binaries.find(options, preferring: folder.dataVersion).directory
    }
  }

  /// The path of `psql`: the one beside the server's programs, or else the first in the search path.
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

  /// Ensures that the server runs and accepts connections, and returns what was necessary.
  ///
  /// If it already runs, this costs a small file read and one `connect`. `progress` is called before anything
  /// that may take longer.
  ///
  /// - Parameter creates: Whether to create the server if there is none. If not, the call throws an error of kind
  ///   `absent`; it waits for another program that is creating the server.
  @discardableResult
  public func startIfNeeded(
    creates: Bool = true, progress: ((Phase) -> Void)? = nil
  ) throws(EmbeddedServerError) -> Outcome {
    if Postmaster.isAcceptingConnections(folder) { return .alreadyRunning }
    return try start(creates: creates, progress: progress ?? { _ in })
  }

  /// Whether the server has been created, whether it runs or not.
  public var exists: Bool { folder.dataVersion != nil }

  /// Like `startIfNeeded()`, without a result.
  public func start() throws(EmbeddedServerError) {
    try startIfNeeded()
  }

  /// Stops the server and waits until its process has ended. Returns whether it was running.
  @discardableResult
  public func stop(
    mode: StopMode = .fast, timeout: Duration = .seconds(60)
  ) throws(EmbeddedServerError) -> Bool {
    try shutDown(mode: mode, timeout: timeout)
  }

  /// Whether the server crashed: its process has ended, but the file that it removes at a regular stop
  /// exists.
  public var hasCrashed: Bool {
    access(folder.pidFile, F_OK) == 0 && Postmaster.current(folder) == nil
  }

  /// The state of the server, without starting it or waiting for a lock.
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

  /// A value of a conninfo string, quoted if necessary.
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
