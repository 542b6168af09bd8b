import Foundation
import QuakeStore

/// Imports a feed, then prints the greatest earthquakes and each change to a strong one.
@main
struct FirstProgram {
  static func main() async {
    do {
      try await run(CommandLine.arguments)
    } catch {
      FileHandle.standardError.write(Data("first-program: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) async throws {
    guard arguments.count == 3 else { return write("usage: first-program DATABASE FEED") }
    let database = QuakeDatabase(arguments[1], applicationName: "first-program")
    try await database.migrate(as: "first-program 1.0")
    let token = try await database.latestToken()
    write("imported \(try await database.importFeed(arguments[2]).inserted) new events")
    let strong = EventQuery(where: .magnitude >= 4.5, order: [.greatestFirst], limit: 5)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for try await change in database.changes(strong, after: token) {
          write("\(change.op) \(change.code ?? "")")
        }
      }
      group.addTask {
        for try await update in database.live(strong) {
          let rows = update.events.map { "M\($0.magnitude ?? 0) \($0.place ?? "somewhere")" }
          write("\(update.count) strong: \(rows.joined(separator: "; "))")
        }
      }
      try await group.next()
    }
  }

  private static func write(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
