import Foundation
import QuakeStore

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends messages about earthquakes to a URL (a webhook, ntfy, a chat): when one reaches a magnitude, when it is revised,
/// and when it is taken back. Changes of its id and locations of several agencies are one conversation.
@main
struct Alerts {
  static func main() async {
    do {
      try await run()
    } catch {
      // An error that leaves main, such as that of a database that is away, would end the program with a trap.
      FileHandle.standardError.write(Data("alert: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let magnitude = Double(arguments[3]),
      let url = URL(string: arguments[4]), url.scheme?.hasPrefix("http") == true
    else {
      write("usage: alert DATABASE NAME MAGNITUDE URL")
      exit(64)
    }
    let database = QuakeDatabase(arguments[1], applicationName: "alert")
    var rule = AlertRule()
    rule.filter.minimumMagnitude = magnitude
    rule.filter.newerThan = .seconds(3600)
    // The database keeps under the name what was told. An alert whose program is killed before the next one comes again,
    // with the same id.
    for try await alert in database.alerts(rule, named: arguments[2]) {
      try await send(alert, to: url)
      write(alert.text)
    }
  }

  /// Sends a message. Tries again, ever more slowly, until the server accepts it.
  private static func send(_ alert: Alert, to url: URL) async throws {
    var request = URLRequest(url: url, timeoutInterval: 20)
    request.httpMethod = "POST"
    request.setValue(alert.id, forHTTPHeaderField: "Idempotency-Key")
    request.httpBody = Data(alert.text.utf8)
    var pause = 1
    while true {
      let answer = try? await URLSession.shared.data(for: request)
      if let status = (answer?.1 as? HTTPURLResponse)?.statusCode, (200..<300).contains(status) {
        return
      }
      write("could not send the message, trying again in \(pause) s")
      try await Task.sleep(for: .seconds(pause))
      pause = min(pause * 2, 60)
    }
  }

  private static func write(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
