import ChildProcesses
import Glibc

extension EmbeddedServer {
  /// A folder of PostgreSQL's programs, and their version.
  struct Binaries: Equatable, Sendable {
    let directory: String
    /// Such as `15.18`.
    let version: String

    var postgres: String { directory + "/postgres" }
    var initdb: String { directory + "/initdb" }
    /// Such as `15`, as `PG_VERSION` in a data folder has it.
    var major: String { String(version.prefix { $0.isNumber }) }

    /// The programs to use: the folder that was asked for; or the first that is found of that
    /// which `pg_config` names, those of the system's packages from the highest version down, and
    /// those in the search path. Data that exist are served by programs of their version if there
    /// are any.
    static func find(
      _ options: Options, preferring dataVersion: String?
    ) throws(EmbeddedServerError) -> Binaries {
      if let directory = options.binDirectory {
        guard let binaries = Binaries(directory) else {
          throw EmbeddedServerError(
            .configuration,
            "folder \"\(directory)\" does not hold PostgreSQL's server programs",
            detail: "Programs \"postgres\" and \"initdb\" are needed.",
            hint: "Correct QUAKE_PG_BIN, or unset it to have them looked for.")
        }
        return binaries
      }
      var first: Binaries?
      for directory in candidates(options) {
        guard let binaries = Binaries(directory) else { continue }
        if dataVersion == nil || binaries.major == dataVersion { return binaries }
        if first == nil { first = binaries }
      }
      if let first { return first }
      throw EmbeddedServerError(
        .configuration, "could not find PostgreSQL's server programs",
        detail: "Looked for with pg_config, in \(options.packageRoot) and in PATH.",
        hint: "Install them (on Debian: apt install postgresql), set QUAKE_PG_BIN to their folder, "
          + "or name a database with --database.")
    }

    private init?(_ directory: String) {
      // libpq's development package has a folder like this with only pg_config in it.
      guard access(directory + "/postgres", X_OK) == 0, access(directory + "/initdb", X_OK) == 0
      else { return nil }
      // `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`
      let words = Self.output(directory + "/postgres", "--version")?.split(separator: " ") ?? []
      guard words.count > 2, words[2].first?.isNumber == true else { return nil }
      self.directory = directory
      self.version = String(words[2])
    }

    private static func candidates(_ options: Options) -> [String] {
      var result: [String] = []
      for folder in options.searchPath where access(folder + "/pg_config", X_OK) == 0 {
        if let named = output(folder + "/pg_config", "--bindir") { result.append(named) }
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

    /// The line that a program prints.
    private static func output(_ executable: String, _ argument: String) -> String? {
      var child = ChildProcess(executable, [argument])
      child.timeout = .seconds(10)
      guard let outcome = try? child.run(), outcome.succeeded else { return nil }
      return String(decoding: outcome.output, as: UTF8.self)
        .split(separator: "\n").first.map(String.init)
    }
  }
}
