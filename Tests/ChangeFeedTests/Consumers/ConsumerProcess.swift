import Foundation
import TestSupport

/// A `quake-watch run` that is started again when it ends, as a service manager does it.
final class ConsumerProcess {
  private let folder: TemporaryFolder
  private var process: ToolProcess?
  /// What earlier processes have said.
  private(set) var log = ""

  /// - Parameter sections: The configuration file without its first lines.
  init(_ conninfo: String, _ sections: String) throws {
    folder = try TemporaryFolder()
    try configure(conninfo, sections)
    try start()
  }

  /// Writes another configuration file.
  func configure(_ conninfo: String, _ sections: String) throws {
    try folder.write("consumers.conf", "database = \(conninfo)\n" + sections)
  }

  /// Starts it after `kill(restarts: false)` or `end`.
  func start() throws {
    process = try Tools.start(
      "quake-watch", ["run", "--config", folder.path + "/consumers.conf"])
  }

  /// Starts it again if it has ended.
  func keep() throws {
    process?.takeIn()
    guard let ended = process, ended.hasEnded else { return }
    log += try ended.exit().errors
    try start()
  }

  func kill(restarts: Bool = true) throws {
    process?.signal(SIGKILL)
    log += try process?.exit().errors ?? ""
    process = nil
    if restarts { try start() }
  }

  /// Ends it as a service manager does.
  ///
  /// - Returns: Its status.
  @discardableResult
  func end() throws -> ToolProcess.Outcome {
    process?.signal(SIGTERM)
    guard let outcome = try process?.exit() else {
      throw ToolProcess.Failure(description: "it was not started")
    }
    log += outcome.errors
    process = nil
    return outcome
  }

  func restart() throws {
    try end()
    try start()
  }

  func reload() { process?.signal(SIGHUP) }

  func waitForError(_ text: String) throws { try process?.waitForError(text) }

  /// What the present process has said.
  var errors: String { process?.errorText ?? "" }
}
