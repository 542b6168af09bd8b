import Basics
import Foundation
import TestSupport

/// A known bug, put into a copy of `quake-watch`, which is built.
struct ToolMutation {
  /// One replacement in a source file.
  struct Edit {
    let file: String
    let text: String
    let replacement: String
  }

  let name: String
  let edits: [Edit]

  /// The cursor is stored before the changes up to it have left the process.
  static let cursorBeforeFlush = ToolMutation(
    name: "cursor stored before the flush",
    edits: [
      Edit(
        file: "Sources/quake-watch/Delivery.swift",
        text: """
              if let flushed = try handler.flush(at: cursor), flushed != stored {
                try cursorStore.save(flushed)
                stored = flushed
              }

          """,
        replacement: """
              if cursor != stored { try cursorStore.save(cursor) }
              stored = cursor
              _ = try handler.flush(at: cursor)

          """)
    ])

  /// The history is read before the watcher listens.
  static let readBeforeListen = ToolMutation(
    name: "read before listen",
    edits: [
      Edit(
        file: "Sources/quake-watch/Following/DatabaseWatcher.swift",
        text: "    try follower.listen()\n",
        replacement: """
              guard try readToEnd() else { return }
              try follower.listen()

          """),
      Edit(
        file: "Sources/quake-watch/Following/DatabaseWatcher.swift",
        text: "    while try readToEnd() {\n",
        replacement: """
              var hasRead = true
              while try hasRead || readToEnd() {
                hasRead = false

          """),
    ])

  /// The reader does not look whether transactions are missing.
  static let gapNotNoticed = ToolMutation(
    name: "gap not noticed",
    edits: [
      Edit(
        file: "Sources/QuakeHistory/Following/HistoryReader.swift",
        text: "if done == 0, let error = link.gap(after: token) { throw Gap(error: error) }",
        replacement: "")
    ])

  /// The folder of the copy. It stays, so that the next build has little to do.
  private static let folder = Tools.package + "/.build/mutants"

  /// Builds the copy with the bug; the program's path. One at a time.
  func build() throws -> String {
    let copy = Self.folder + "/package"
    try Self.run("/bin/mkdir", ["-p", copy])
    // Files that have not changed keep their times, and are not compiled again.
    let parts = ["Package.swift", "Sources", "Tests", "Benchmarks", "migrations"].map {
      Tools.package + "/" + $0
    }
    for part in ["Sources", "Tests", "Benchmarks", "migrations"] {
      try Self.run("/bin/rm", ["-rf", copy + "/" + part])
    }
    try Self.run("/bin/cp", ["-a"] + parts + [copy])
    for edit in edits { try apply(edit, in: copy) }
    let build = try ToolProcess(
      "/usr/bin/env",
      [
        "swift", "build", "--package-path", copy, "--scratch-path", Self.folder + "/build",
        "--product", "quake-watch", "--disable-index-store", "-Xswiftc", "-gnone",
      ], environment: ProcessInfo.processInfo.environment)
    let outcome = try build.exit(within: .seconds(600))
    guard outcome.status == 0 else {
      throw ToolProcess.Failure(description: "\(name): \(outcome.output)\(outcome.errors)")
    }
    let program = Self.folder + "/" + name.replacingOccurrences(of: " ", with: "-")
    try Self.run("/bin/cp", ["-f", Self.folder + "/build/debug/quake-watch", program])
    return program
  }

  /// Fails when the bug cannot be put into the sources any more.
  func findPlaces() throws {
    for edit in edits { _ = try surroundings(edit, in: Tools.package) }
  }

  private func apply(_ edit: Edit, in folder: String) throws {
    try surroundings(edit, in: folder).joined(separator: edit.replacement)
      .write(toFile: folder + "/" + edit.file, atomically: true, encoding: .utf8)
  }

  /// What is before and after the text. It must be there exactly once: else the program has changed, and the
  /// bug would be another, or none.
  private func surroundings(_ edit: Edit, in folder: String) throws -> [String] {
    let file = folder + "/" + edit.file
    let parts = try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: edit.text)
    guard parts.count == 2 else {
      throw ToolProcess.Failure(
        description: "\(name): \(parts.count - 1) times in \(edit.file): \(edit.text)")
    }
    return parts
  }

  private static func run(_ program: String, _ arguments: [String]) throws {
    let outcome = try ChildProcess(program, arguments).run()
    guard outcome.succeeded else {
      throw ToolProcess.Failure(
        description: "\(program) failed: \(String(decoding: outcome.errors, as: UTF8.self))")
    }
  }
}
