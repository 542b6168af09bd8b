import Foundation
import QuakeStore

/// Marks strong events as validated as soon as they are stored, and prints what everyone else changes. It
/// names itself as the author of its changes, and its filter leaves out that author, so that it does not
/// react to its own changes.
@main
struct SecondApplication {
  private static let author = "second-application"

  static func main() async {
    do {
      try await run()
    } catch {
      // An error that leaves main, such as that of a database that is away, would end the program with a trap.
      FileHandle.standardError.write(Data("second-application: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let magnitude = Double(arguments[2]) else {
      write("usage: second-application DATABASE MAGNITUDE")
      exit(64)
    }
    let database = QuakeDatabase(arguments[1], applicationName: author)
    var others = EventQuery()
    others.filter.excludedAuthors = [author]
    let token = try await database.latestToken()
    write("following the changes of others after \(token)")
    for try await change in database.changes(others, after: token) {
      write("\(change.op) \(change.code ?? "") \(change.transaction.author ?? "")")
      guard let event = change.new, let code = change.code, event.isValidated != true,
        event.magnitude ?? -.infinity >= magnitude
      else { continue }
      try await database.withConnection { connection in
        try connection.transaction {
          try connection.execute("select set_config('quake.author', \(author), true)")
          try connection.execute("update quake.quake set validated = true where code = \(code)")
        }
      }
      write("validated \(code)")
    }
  }

  private static func write(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
