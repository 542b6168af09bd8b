import Glibc
import TestSupport

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
