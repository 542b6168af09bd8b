import Foundation
import QuakeStore

/// Prints each change that is committed to a Quake database. It saves its cursor in a file, and continues
/// there when it is started again.
@main
struct FollowChanges {
  static func main() async {
    do {
      try await run()
    } catch {
      // An error that leaves main, such as that of a database that is away, would end the program with a trap.
      FileHandle.standardError.write(Data("follow-changes: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else {
      write("usage: follow-changes DATABASE CURSOR-FILE")
      exit(64)
    }
    let database = QuakeDatabase(arguments[1], applicationName: "follow-changes")
    let file = URL(fileURLWithPath: arguments[2])
    let cursor: HistoryCursor
    if let text = try? String(contentsOf: file, encoding: .utf8), let saved = HistoryCursor(text) {
      cursor = saved
    } else {
      cursor = HistoryCursor(token: try await database.latestToken())
    }
    write("following the changes after \(cursor)")
    for try await change in database.changes(after: cursor) {
      let magnitude = change.new?.magnitude.map { " M\($0)" } ?? ""
      write("\(change.op) \(change.code ?? "")\(magnitude) \(change.transaction.author ?? "")")
      // After the change is handled: if the program ends in between, the change comes again.
      try "\(change.cursor)".write(to: file, atomically: true, encoding: .utf8)
    }
  }

  private static func write(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
