import Glibc

extension EmbeddedServer {
  /// The folders and settings of the embedded server. The library does not read the environment; a tool sets
  /// the options, usually with `fromEnvironment(_:)`.
  public struct Options: Sendable {
    /// The folder that holds everything of the server (data, socket, log, lock); an absolute path. It is
    /// created when needed, and only the server's account may enter it.
    public var home: String
    /// The account that the server runs as if the caller is root; `nil` means `postgres`. For other callers
    /// the server runs as the caller.
    public var account: String?
    /// The folder of PostgreSQL's programs; `nil` to search for it.
    public var binDirectory: String?
    /// The folders to search for `pg_config`, for `psql` and, last, for the server's programs: the caller's
    /// PATH.
    public var searchPath: [String]
    /// The folder in which the system's packages have a folder `<version>/bin` for each version of
    /// PostgreSQL.
    public var packageRoot = "/usr/lib/postgresql"
    /// Settings that override the server's configuration files at each start, such as `["fsync": "off"]` in a
    /// test.
    public var settings: [String: String] = [:]
    /// The longest time for a start, not counting crash recovery.
    public var startTimeout: Duration = .seconds(60)

    /// Options for a server in the folder `home`, whose programs are searched last in `searchPath`.
    public init(
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
    public static func fromEnvironment(
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
      return options
    }
  }
}
