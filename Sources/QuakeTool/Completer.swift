internal import CommandLine
internal import Glibc
internal import Postgres

/// Answers the completions of the shells.
///
/// A person waits for the answer: after 100 ms the names that the database holds are left out. It never starts a
/// server, and reports no error.
enum Completer {
  private static let patience: useconds_t = 100_000

  private static let queries: [String: SQL] = [
    "feeds": "select name from quake.feed order by name limit 500",
    "consumers": "select name from quake.consumer order by name limit 500",
    "watchers": "select name from quake.watcher order by name limit 500",
    "imports": """
    select id::text from quake.import
     where quarantine_reason is not null and decision is null order by id desc limit 100
    """,
  ]

  /// Prints the candidates for the last of the words of a command line.
  static func answer(_ words: [String], of command: Command) throws {
    let output = StandardOutput()
    var candidates = Candidates(command, words)
    for line in candidates.lines { try output.writeLine(line) }
    try output.flush()
    guard let query = candidates.stored.flatMap({ queries[$0] }) else { return }
    signal(SIGALRM) { _ in _exit(0) }
    ualarm(patience, 0)
    candidates.lines = []
    candidates.add(stored: try names(query, command.name))
    for line in candidates.lines { try output.writeLine(line) }
    try output.flush()
  }

  private static func names(_ query: SQL, _ tool: String) throws -> [String] {
    let none = Command(tool, purpose: "", options: [DatabaseAccess.option])
    guard case .run(let arguments) = try none.parse([]) else { return [] }
    let diagnostics = Diagnostics(tool: tool)
    try UserConfiguration.load(for: tool, diagnostics)
    return try DatabaseAccess(arguments, diagnostics).connectAsItIs().rows(query, as: String.self)
  }
}
