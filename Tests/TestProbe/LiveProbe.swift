import Glibc
import QuakeModel
import QuakeStore

/// What `QuakeLiveTests` measures: each in a process of its own.
enum LiveProbe {
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 3, let count = Int(arguments[2]) else { exit(64) }
    // On a busy machine a connection may take longer than the default.
    let database = QuakeDatabase(
      arguments[1] + " connect_timeout=180", applicationName: "test-probe")
    switch arguments[0] {
    case "changes": try await readChanges(of: database, count: count)
    case "list": try await holdList(of: database, count: count)
    default: exit(64)
    }
  }

  /// Prints two sizes: without and with a list of `count` events.
  private static func holdList(of database: QuakeDatabase, count: Int) async throws {
    try await database.check()
    print(memory("VmRSS"))
    var iterator = database.live().makeAsyncIterator()
    guard let update = try await iterator.next(), update.events.count == count else { exit(1) }
    print(memory("VmRSS"))
  }

  /// Prints the memory in use after connecting, after the first change, and after a line on standard
  /// input, and the peak. The test sends the line when a reader without back-pressure would have read on.
  private static func readChanges(of database: QuakeDatabase, count: Int) async throws {
    try await database.check()
    print(memory("VmRSS"))
    var iterator = database.changes(after: .beginning).makeAsyncIterator()
    guard try await iterator.next() != nil else { exit(1) }
    guard readLine() != nil else { exit(1) }
    print(memory("VmRSS"))
    for _ in 1..<count {
      guard try await iterator.next() != nil else { exit(1) }
    }
    print(memory("VmHWM"))
  }

  /// A size of this process's memory in kB, as the kernel names it.
  private static func memory(_ name: String) -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return -1 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        .split(whereSeparator: \.isWhitespace)
      if words.first == "\(name):", words.count > 1, let size = Int(words[1]) { return size }
    }
    return -1
  }
}
