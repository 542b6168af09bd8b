import Foundation
import QuakeStore

/// Shows the newest events in the terminal and draws them anew after each change.
@main
struct LiveList {
  static func main() async {
    do {
      try await run()
    } catch {
      // An error that leaves main, such as that of a database that is away, would end the program with a trap.
      FileHandle.standardError.write(Data("live-list: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let rows = Int(arguments[2]), (1...1000).contains(rows) else {
      FileHandle.standardOutput.write(Data("usage: live-list DATABASE ROWS\n".utf8))
      exit(64)
    }
    let database = QuakeDatabase(arguments[1], applicationName: "live-list")
    let isTerminal = isatty(STDOUT_FILENO) == 1
    for try await update in database.liveQuakes(order: .timeDescending) {
      // Home and clear to the end of the screen.
      var screen = isTerminal ? "\u{1B}[H\u{1B}[J" : ""
      screen +=
        "\(update.quakes.count) \(update.quakes.count == 1 ? "event" : "events") at \(update.token)\n"
      for quake in update.quakes.prefix(rows) { screen += line(quake) + "\n" }
      FileHandle.standardOutput.write(Data(screen.utf8))
    }
  }

  private static func line(_ quake: QuakeRecord) -> String {
    let magnitude = quake.magnitude.map { String(format: "%4.1f", $0) } ?? "   –"
    let time = quake.time.map { "\($0)" } ?? ""
    // A place may hold any character: control characters must not reach the terminal.
    let place = (quake.place ?? "").unicodeScalars.filter {
      $0.properties.generalCategory != .control
    }
    return "\(time)  \(magnitude)  \(String(String.UnicodeScalarView(place)))"
  }
}
