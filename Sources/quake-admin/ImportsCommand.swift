import CommandLine
import FeedImport
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeSchema
import QuakeTool

/// `quake-admin imports`: what was imported, and what was set aside instead.
enum ImportsCommand {
  static let table = Command(
    "imports", purpose: "list the imports, and decide on snapshots that were set aside",
    discussion: """
      Without an action it lists. apply imports a snapshot that was set aside, whatever is wrong with \
      it; events that the store has of a newer snapshot stay as they are. discard lets go of it, body \
      prints its body as it came.
      """,
    options: [
      .flag("quarantined", help: "only snapshots that were set aside and wait for a decision"),
      .value("limit", "N", default: "50", help: "at most N, the newest"),
      .flag("json", help: "one JSON object a line"),
    ],
    positionals: [
      .init(
        "ACTION", .optional, completion: .words(["apply", "discard", "body"]),
        help: "apply, discard or body"),
      .init("ID", .optional, help: "number of the import that the action is for"),
    ],
    examples: [
      .init("quake-admin imports --quarantined", "what was set aside, and why"),
      .init("quake-admin imports apply 17", "import it all the same"),
    ],
    environment: DatabaseAccess.environment + [TemporaryFolder.variable],
    exitStatuses: Tool.exitStatuses)

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let action = arguments.positional("ACTION")
    guard action == nil || ["apply", "discard", "body"].contains(action) else {
      throw arguments.usageError(
        "unknown action '\(action ?? "")': expected apply, discard or body")
    }
    let id = try action.map { try number(arguments, for: $0) }
    // An import ends as a whole; the rest may be ended anywhere.
    if action == "apply" { Signals.install() }
    let connection = try DatabaseAccess(arguments, diagnostics).connect()
    try Migrator.checkSchema(of: connection)
    switch (action, id) {
    case ("apply", let id?): return try apply(id, connection, arguments, diagnostics)
    case ("discard", let id?):
      try connection.transaction {
        try Quarantine(connection: connection).decide(on: id, appliedBy: nil)
      }
      diagnostics.note("discarded import \(id)")
    case ("body", let id?): try printBody(of: id, connection)
    default: try list(arguments, connection)
    }
    return .ok
  }

  private static func number(
    _ arguments: ParsedArguments, for action: String
  ) throws(UsageError) -> Int64 {
    guard let text = arguments.positional("ID") else {
      throw arguments.usageError("\(action) needs the number of an import")
    }
    guard let id = Int64(text), id > 0 else {
      throw arguments.usageError("invalid import '\(text)': expected its number")
    }
    return id
  }

  private static func list(_ arguments: ParsedArguments, _ connection: Connection) throws {
    let entries = try ImportList.read(
      quarantined: arguments.flag("quarantined"),
      limit: try arguments.integer("limit", in: 1...).map { Int64($0) } ?? 50, over: connection)
    let output = StandardOutput()
    if arguments.flag("json") {
      var json = JSONWriter()
      for entry in entries { ImportsOutput.write(entry, to: &json) }
      try output.write(json.bytes)
    } else {
      try output.write(ImportsOutput.table(of: entries))
    }
    try output.flush()
  }

  private static func body(of id: Int64, _ connection: Connection) throws -> any ByteSource {
    if let body = try QuarantinedFeed(import: id, over: connection).open(
      in: TemporaryFolder.path)
    {
      return body
    }
    throw StoreError(
      .badData, "no body is kept of import \(id)",
      hint: "\"quake-admin imports --quarantined\" lists those of which one is.")
  }

  private static func apply(
    _ id: Int64, _ connection: Connection, _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    guard let entry = try ImportList.find(id, over: connection) else {
      throw StoreError(
        .badData, "there is no import \(id)", hint: "\"quake-admin imports\" lists them.")
    }
    var options = ImportOptions(
      source: entry.source, feed: entry.feed, program: "\(diagnostics.tool) \(productVersion)",
      author: diagnostics.tool)
    options.generated = entry.generated
    // So that what it lacks is not missed from those that follow.
    options.scope = FeedReference.scope(of: entry.feed)
    let report: ImportReport
    do {
      var source = FeedImportSource(
        try FeedReader(source: try body(of: id, connection), name: "the body of import \(id)"))
      report = try Importer(connection: connection, options: options)
        .run(
          from: &source,
          beforeCommit: { applied in
            try Quarantine(connection: connection).decide(on: id, appliedBy: applied.id)
          })
    } catch let error as ImportRefusal {
      throw StoreError(.badData, error.message, detail: error.detail, hint: error.hint)
    } catch let error as FeedError {
      throw StoreError(
        .badData, "could not read the body of import \(id)",
        detail: [error.message + ".", error.detail].compactMap { $0 }.joined(separator: " "),
        hint:
          "\"quake-admin imports body \(id)\" prints it as it came, \"quake-admin imports discard \(id)\" lets go of it."
      )
    }
    let output = StandardOutput()
    if arguments.flag("json"), let applied = report.id,
      let entry = try ImportList.find(applied, over: connection)
    {
      var json = JSONWriter()
      ImportsOutput.write(entry, to: &json)
      try output.write(json.bytes)
    } else {
      try output.writeLine(
        """
        applied import \(id) as import \(report.id ?? 0): \(Readable.count(Int(report.inserted))) \
        inserted, \(Readable.count(Int(report.updated))) updated
        """)
    }
    try output.flush()
    return .ok
  }

  private static func printBody(of id: Int64, _ connection: Connection) throws {
    let body = try body(of: id, connection)
    let output = StandardOutput()
    // It is the one thing that is printed as it came, whatever a feed has put into it.
    guard !Terminal.isTerminal(output.descriptor) else {
      throw StoreError(
        .badData, "the body of import \(id) is not for a terminal: it is printed as it came",
        hint: "Send it to a file or a program: quake-admin imports body \(id) > FILE")
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { buffer.deallocate() }
    while case let count = try body.read(into: buffer), count > 0 {
      try output.write(Array(buffer[..<count]))
    }
    try output.flush()
  }
}
