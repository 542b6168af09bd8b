import Foundation
import QuakeStore

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends a message to a URL (a webhook, ntfy, a chat) when an earthquake of the last hour reaches a
/// magnitude: when it is first stored with it, or when a revision lifts it to that.
@main
struct Alert {
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
      write("usage: alert DATABASE CURSOR-FILE MAGNITUDE URL")
      exit(64)
    }
    let database = QuakeDatabase(arguments[1], applicationName: "alert")
    let file = URL(fileURLWithPath: arguments[2])
    var query = EventQuery(where: .magnitude >= magnitude, .type == "earthquake")
    query.filter.operations = [.insert, .update]
    let cursor = try await start(database, file)
    write("alerting after \(cursor)")
    for try await change in database.changes(query, after: cursor) {
      if let text = alert(change, magnitude: magnitude, now: Date()) {
        try await send(text, to: url)
        write(text)
      }
      // Saved after the message is sent: a program that is killed in between sends it twice, not never.
      try "\(change.cursor)".write(to: file, atomically: true, encoding: .utf8)
    }
  }

  /// The saved cursor, or the present end of the history.
  private static func start(_ database: QuakeDatabase, _ file: URL) async throws -> HistoryCursor {
    if let text = try? String(contentsOf: file, encoding: .utf8), let saved = HistoryCursor(text) {
      return saved
    }
    return HistoryCursor(token: try await database.latestToken())
  }

  /// The message for a change; nil if it is none to wake somebody for.
  private static func alert(_ change: Change, magnitude: Double, now: Date) -> String? {
    guard let event = change.new, let value = event.magnitude, value >= magnitude,
      (change.old?.magnitude ?? -.infinity) < magnitude,
      let time = event.time, now.timeIntervalSince(time.date) < 3600
    else { return nil }
    return "M\(value) \(event.place ?? "unknown place") at \(time)"
  }

  /// Sends a message. Tries again, ever more slowly, until the server accepts it.
  private static func send(_ text: String, to url: URL) async throws {
    var request = URLRequest(url: url, timeoutInterval: 20)
    request.httpMethod = "POST"
    request.httpBody = Data(text.utf8)
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
