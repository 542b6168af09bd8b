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

/// A receiver of webhooks that is not ours: `unreliable_receiver.py`.
final class UnreliableReceiver {
  /// A request that it has taken.
  struct Taken {
    /// Seconds since 1970.
    let at: Double
    /// Who asked.
    let name: String
    /// The id that the request had.
    let id: String
    /// The messages in it.
    let messages: [Message]
  }

  struct Message: Equatable {
    let id: String
    /// The event's code, or the conversation.
    let subject: String
    /// Where it is among the messages of its subject.
    let place: [Int64]
    /// The whole of it, with sorted keys.
    let text: String
  }

  let port: Int
  private let folder: TemporaryFolder
  private let process: ToolProcess

  static let isThere = (try? Tools.shell("python3 -c 'import http.server'").status == 0) == true

  init(seed: UInt64) throws {
    folder = try TemporaryFolder()
    let script = Tools.package + "/Tests/ChangeFeedTests/Consumers/unreliable_receiver.py"
    process = try ToolProcess(
      "/usr/bin/env", ["python3", script, folder.path + "/taken", "\(seed % 1_000_000)"],
      environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"])
    guard let port = Int(try process.line()) else {
      throw ToolProcess.Failure(description: "the receiver printed no port")
    }
    self.port = port
  }

  /// The address of a behaviour for a name.
  func url(_ behaviour: String, _ name: String) -> String {
    "http://127.0.0.1:\(port)/\(behaviour)/\(name)"
  }

  /// Kills the process that serves, and starts another one.
  func crash() { process.signal(SIGUSR1) }

  /// Lets those go on that are held.
  func release() { process.signal(SIGUSR2) }

  /// What it has taken so far.
  func taken() throws -> [Taken] {
    guard let text = try? String(contentsOfFile: folder.path + "/taken", encoding: .utf8) else {
      return []
    }
    return try text.split(separator: "\n").map { try Self.taken(String($0)) }
  }

  private static func taken(_ line: String) throws -> Taken {
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
    let body = object["body"]
    let all = body as? [[String: Any]] ?? [body as? [String: Any] ?? [:]]
    return Taken(
      at: object["at"] as? Double ?? 0, name: object["name"] as? String ?? "",
      id: object["id"] as? String ?? "", messages: try all.map { try message($0) })
  }

  private static func message(_ object: [String: Any]) throws -> Message {
    let text = String(
      decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys),
      as: UTF8.self)
    let token = object["token"] as? String ?? ""
    if let conversation = object["conversation"] as? String {
      return Message(
        id: object["id"] as? String ?? "", subject: conversation,
        place: [object["number"] as? Int64 ?? 0], text: text)
    }
    let position = object["position"] as? Int64 ?? 0
    return Message(
      id: "\(token)-\(position)", subject: object["code"] as? String ?? "",
      place: [token.split(separator: ".").first.flatMap { Int64($0) } ?? 0, position], text: text)
  }
}
