import Glibc

extension EmbeddedServer {
  /// Where the embedded server lives and how it is run. The library reads no environment: a tool
  /// fills this in, usually with `fromEnvironment(_:)`.
  public struct Options: Sendable {
    /// The folder that holds everything of the server (data, socket, log, lock); an absolute path.
    /// It is created when needed, and belongs to the server's account alone.
    public var home: String
    /// The account that the server runs as when the caller is root; `nil` is `postgres`. Not used
    /// when the caller is somebody else: then the server runs as the caller.
    public var account: String?
    /// The folder of PostgreSQL's programs; `nil` looks for it.
    public var binDirectory: String?
    /// Where to look for `pg_config`, for `psql` and, last of all, for the server itself: the
    /// caller's PATH.
    public var searchPath: [String]
    /// Where the system's packages keep one folder `<version>/bin` for each PostgreSQL.
    public var packageRoot = "/usr/lib/postgresql"
    /// Settings given to the server each time it is started, over those in its configuration
    /// files, such as `["fsync": "off"]` in a test.
    public var settings: [String: String] = [:]
    /// How long a start may take. Crash recovery is waited for as long as it lasts.
    public var startTimeout: Duration = .seconds(60)

    /// Options with the server's folder at `home`, programs looked for in `searchPath` last.
    public init(
      home: String, searchPath: [String] = ["/usr/local/bin", "/usr/bin", "/bin"]
    ) {
      self.home = home
      self.searchPath = searchPath
    }

    /// The options of a tool, from its environment: `QUAKE_PG_BIN`, `QUAKE_SERVER_USER`,
    /// `QUAKE_SERVER_HOME`, `XDG_DATA_HOME`, `HOME`, `PATH`.
    ///
    /// Root's server is the machine's, in `/var/lib/quake`, whatever `HOME` and `XDG_DATA_HOME`
    /// say: `sudo` may have kept them from a user whose folders the server's account cannot enter.
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
        // The XDG specification has a relative path ignored.
        home = data + "/quake"
      } else if let user = given("HOME") {
        home = user + "/.local/share/quake"
      } else {
        throw EmbeddedServerError(
          .configuration, "cannot tell where to keep the embedded server's data",
          detail: "Neither HOME nor XDG_DATA_HOME is set.",
          hint: "Set HOME, or name a database with --database.")
      }
      var options = Options(home: home)
      if let path = given("PATH") {
        // A relative entry would depend on the folder that the tool happens to be started in.
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
