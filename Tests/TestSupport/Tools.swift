import EmbeddedPostgres
import Foundation

/// The built binaries: in the folder `QUAKE_BIN`, by default the release build of this package.
package enum Tools {
  /// A tool that was not built.
  package struct Missing: Error, CustomStringConvertible {
    let path: String
    /// What to do.
    package var description: String {
      "there is no \(path): run \"make build\" first, or set QUAKE_BIN"
    }
  }

  /// The package's folder.
  package static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  /// The folder of the binaries.
  package static let folder =
    ProcessInfo.processInfo.environment["QUAKE_BIN"] ?? package + "/.build/release"

  /// The program that tests look at in a process of its own, built into the folder that they are in.
  package static let probe =
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .path + "/test-probe"

  /// Whether to run the soak tests, which take longer.
  package static let isSoak = ProcessInfo.processInfo.environment["QUAKE_SOAK"] == "1"

  /// The environment of every tool, without variables of the caller that name a database.
  package static var environment: [String: String] {
    let caller = ProcessInfo.processInfo.environment
    var environment = [
      "PATH": caller["PATH"] ?? "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC",
      // A test that forgets to name a database must not use the user's own: not even root can
      // create these folders.
      "QUAKE_SERVER_HOME": "/dev/null/quake", "HOME": "/dev/null/home",
      // The settings of this machine are not those of the tests.
      "QUAKE_SYSTEM_CONFIG": "",
    ]
    environment["QUAKE_PG_BIN"] = caller["QUAKE_PG_BIN"]
    return environment
  }

  /// Starts a tool.
  package static func start(
    _ tool: String, _ arguments: [String], environment: [String: String] = [:],
    input: String = "/dev/null", folder: String? = nil, output: Int32? = nil
  ) throws -> ToolProcess {
    let path = Self.folder + "/" + tool
    guard access(path, X_OK) == 0 else { throw Missing(path: path) }
    return try ToolProcess(
      path, arguments, environment: Self.environment.merging(environment) { $1 }, input: input,
      folder: folder, output: output)
  }

  /// Runs a tool to its end.
  package static func run(
    _ tool: String, _ arguments: [String], environment: [String: String] = [:],
    input: String = "/dev/null", folder: String? = nil
  ) throws -> ToolProcess.Outcome {
    try start(tool, arguments, environment: environment, input: input, folder: folder).exit()
  }

  /// Runs a tool to its end, and throws its messages unless it succeeds.
  @discardableResult
  package static func succeed(
    _ tool: String, _ arguments: [String], environment: [String: String] = [:],
    input: String = "/dev/null", folder: String? = nil
  ) throws -> ToolProcess.Outcome {
    let outcome = try run(
      tool, arguments, environment: environment, input: input, folder: folder)
    guard outcome.status == 0 else {
      let command = ([tool] + arguments).joined(separator: " ")
      throw ToolProcess.Failure(
        description: "\(command): \(outcome.ending) \(outcome.errors)")
    }
    return outcome
  }

  /// Runs a shell command to its end, with the binaries in PATH.
  package static func shell(
    _ command: String, environment: [String: String] = [:], folder: String? = nil
  ) throws -> ToolProcess.Outcome {
    try startShell(command, environment: environment, folder: folder).exit()
  }

  /// Starts a shell command, with the binaries in PATH.
  package static func startShell(
    _ command: String, environment: [String: String] = [:], folder: String? = nil
  ) throws -> ToolProcess {
    var all = Self.environment.merging(environment) { $1 }
    all["PATH"] = Self.folder + ":" + (all["PATH"] ?? "")
    return try ToolProcess(
      "/bin/sh", ["-eu", "-c", command], environment: all, folder: folder)
  }

  /// The real `psql` of the server under test.
  package static let psql = TestServer.shared.psqlPath
}

/// A folder for one test, removed with the last reference to it.
package final class TemporaryFolder {
  /// Where it is.
  package let path: String

  /// Makes a folder.
  package init() throws {
    path = TestFolders.path("folder")
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file and returns its path.
  @discardableResult
  package func write(_ name: String, _ text: String) throws -> String {
    try write(name, Array(text.utf8))
  }

  /// Writes a file and returns its path.
  @discardableResult
  package func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = path + "/" + name
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    return file
  }
}

/// Waits until `holds`, with a deadline, for a state that no event announces, such as another
/// process's.
package func eventually(
  _ what: String, within patience: Duration = ToolProcess.patience, _ holds: () throws -> Bool
) throws {
  let begun = ContinuousClock.now
  while try !holds() {
    guard ContinuousClock.now - begun < patience else {
      throw ToolProcess.Failure(description: "timed out waiting: \(what)")
    }
    pauseBetweenQuestions(since: begun)
  }
}

/// Leaves the processors to what a test waits for: the longer it has waited, the less often it asks.
func pauseBetweenQuestions(since begun: ContinuousClock.Instant) {
  let waited = ContinuousClock.now - begun
  poll(nil, 0, Int32(min(max(waited / .milliseconds(8), 5), 100)))
}
