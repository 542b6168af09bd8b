import Foundation
import TestSupport
import Testing

/// `quake-serve` on a free port of this machine.
final class ServerProcess {
  let process: ToolProcess
  let port: Int

  var url: String { "http://127.0.0.1:\(port)" }

  convenience init(
    _ database: TestDatabase, _ arguments: [String] = [], environment: [String: String] = [:],
    port: Int = 0, logsRequests: Bool = false
  ) throws {
    try self.init(
      database.option + arguments, environment: environment, port: port, logsRequests: logsRequests)
  }

  /// - Parameter arguments: Options; the database is one of them.
  init(
    _ arguments: [String], environment: [String: String] = [:], port: Int = 0,
    logsRequests: Bool = false
  ) throws {
    var environment = environment
    // For a server that was built with the address sanitizer.
    environment["ASAN_OPTIONS"] = ProcessInfo.processInfo.environment["ASAN_OPTIONS"]
    process = try Tools.start(
      "quake-serve",
      ["--listen", "127.0.0.1:\(port)"]
        // Unread messages would fill the pipe.
        + (logsRequests ? [] : ["--no-access-log"]) + arguments,
      environment: environment)
    try process.waitForError("serving on http://127.0.0.1:")
    let text = process.errorText
    let match = try #require(text.firstMatch(of: #/serving on http://127\.0\.0\.1:(\d+)/#))
    self.port = try #require(Int(match.1))
  }

  /// What an option has that gives somebody a token: the name, and the SHA-256 of the token.
  static func token(_ token: String, of name: String) throws -> String {
    let hash = try Tools.shell("printf %s '\(token)' | sha256sum | cut -d ' ' -f 1").lines[0]
    return "\(name):\(hash)"
  }

  /// Sends a request over a connection of its own.
  func request(
    _ method: String, _ target: String, _ headers: [String: String] = [:], body: String = ""
  ) throws -> RawConnection.Answer {
    let connection = try RawConnection(port: port)
    return try connection.request(
      method, target, headers.merging(["Connection": "close"]) { own, _ in own }, body: body)
  }

  func get(_ target: String, _ headers: [String: String] = [:]) throws -> RawConnection.Answer {
    try request("GET", target, headers)
  }

  /// Waits until the streams have begun, which read the newest token, too.
  ///
  /// - Parameter query: That of the question whether it is ready.
  func waitUntilReady(_ query: String = "") throws {
    try eventually("the server is ready") { try get("/readyz\(query)").status == 200 }
  }

  /// Ends the server as a service manager does; its status must be 0.
  func stop() throws {
    try process.end()
  }
}

/// A port of this machine that no program listens on. While this object lives, the system gives the port to no
/// program that asks for any free one. A program that is told the number and sets `SO_REUSEADDR` can listen on it.
final class ReservedPort {
  let number: Int
  private let descriptor: Int32

  init() throws {
    (descriptor, number) = try LocalSocket.bind(reuses: true)
  }

  deinit { close(descriptor) }
}

/// A stream of changes as curl prints it.
final class ChangeStream {
  private let process: ToolProcess

  /// - Parameter id: The id of the last change that is known; nil: all changes come.
  init(_ url: String, after id: String? = nil) throws {
    let resume = id.map { "-H 'Last-Event-ID: \($0)'" } ?? ""
    process = try Tools.startShell("exec curl -sN \(resume) '\(url)/v1/changes?after=0'")
  }

  deinit { end() }

  /// The next change: its id, and the code of the event.
  func next() throws -> (id: String, code: String) {
    var id = ""
    while true {
      let line = try process.line()
      if line.hasPrefix("id:") {
        id = String(line.dropFirst(3).trimmingPrefix(" "))
      } else if line.hasPrefix("data:"), !line.contains("\"op\":\"heartbeat\"") {
        let change = try JSONLine(String(line.dropFirst(5).trimmingPrefix(" ")))
        return (id, change.string("code") ?? "")
      }
    }
  }

  func end() { process.signal(SIGKILL) }
}
