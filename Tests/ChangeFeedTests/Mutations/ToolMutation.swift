import ChildProcesses
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
              if let flushed = try handler.flush(at: cursor), flushed != before {
                try cursorStore.save(flushed, over: connection)
              }

          """,
        replacement: """
              if cursor != before { try cursorStore.save(cursor, over: connection) }
              _ = try handler.flush(at: cursor)

          """)
    ])

  /// The history is read before the watcher listens.
  static let readBeforeListen = ToolMutation(
    name: "read before listen",
    edits: [
      Edit(
        file: "Sources/quake-watch/Watcher.swift",
        text: "    try follower.listen()\n",
        replacement: """
              guard try readToEnd(over: connection) else { return }
              try follower.listen()

          """),
      Edit(
        file: "Sources/quake-watch/Watcher.swift",
        text: "    while try readToEnd(over: connection) {\n",
        replacement: """
              var hasRead = true
              while try hasRead || readToEnd(over: connection) {
                hasRead = false

          """),
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

  /// Each text must be there exactly once: else the program has changed, and the bug would be another,
  /// or none.
  private func apply(_ edit: Edit, in folder: String) throws {
    let file = folder + "/" + edit.file
    let parts = try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: edit.text)
    guard parts.count == 2 else {
      throw ToolProcess.Failure(
        description: "\(name): \(parts.count - 1) times in \(edit.file): \(edit.text)")
    }
    try parts.joined(separator: edit.replacement)
      .write(toFile: file, atomically: true, encoding: .utf8)
  }

  private static func run(_ program: String, _ arguments: [String]) throws {
    let outcome = try ChildProcess(program, arguments).run()
    guard outcome.succeeded else {
      throw ToolProcess.Failure(
        description: "\(program) failed: \(String(decoding: outcome.errors, as: UTF8.self))")
    }
  }
}
