import CommandLine
import Postgres
import QuakeFormat
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeTool

/// `quake-query export`: writes the events in a format that other programs read.
struct ExportCommand {
  static let table = Command(
    "export", purpose: "write the events in a format that other programs read",
    discussion: """
      The file has the events of one moment. "quake-ingest import" reads all formats but kml and atom; \
      importing an export into the store that it came from changes nothing. Superseded and withdrawn \
      events are left out unless an option includes them or --code names them; then they have the type \
      "not existing". "--code -" reads codes from standard input, one a line.
      """,
    options: ExportTarget.options + EventQueryOptions.points + FilterOptions.events
      + EventQueryOptions.past + [
        .limit(help: "at most N events, the newest")
      ],
    examples: [
      .init("quake-query export -o quakes.geojson.gz", "all events, compressed"),
      .init(
        "quake-query export --min-magnitude 6 --output large.xml",
        "large earthquakes as QuakeML"),
    ])

  /// The number of bytes that are collected before they are handed over.
  private static let partSize = 64 * 1024
  /// The number of events whose revisions are counted together.
  private static let countedTogether = 500

  private let arguments: ParsedArguments
  private let diagnostics: Diagnostics
  private let target: ExportTarget
  private let bar: ProgressBar

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    var query = try EventQueryOptions.query(arguments)
    query.limit = try arguments.integer("limit", in: 1...).map { Int64($0) }
    let command = try ExportCommand(arguments, diagnostics)
    do {
      try command.run(query)
      if command.bar.done == 0 { EventSelectionOptions.announceNone(arguments, diagnostics) }
    } catch let error as FileError {
      command.bar.finish()
      throw error
    }
    return .ok
  }

  private init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    self.arguments = arguments
    self.diagnostics = diagnostics
    target = try ExportTarget(arguments)
    bar = ProgressBar("export", unit: .items("events"), diagnostics: diagnostics)
  }

  private func run(_ query: EventQuery) throws {
    var query = query
    query.columns = target.format.columns
    let connection = try QueryCommand.connect(arguments, diagnostics)
    defer { bar.finish() }
    // One snapshot for all statements.
    try connection.transaction(.repeatableRead, readOnly: true) {
      let token = try query.asOf?.resolve(over: connection)
      try PastNote.tell(of: query, over: connection, diagnostics)
      query.asOf = token.map { .token($0) }
      query = try EventSelectionOptions.sendingCodes(of: query, diagnostics, over: connection)
      var head = DocumentHead(
        generated: try query.asOfFeed ?? moment(of: token, over: connection), api: productVersion)
      if target.format.needsCount {
        let count = try query.count(over: connection)
        head.count = Int(min(count, query.limit ?? count))
      }
      bar.total = head.count
      var revisions: EventRevisions?
      if target.format.hasRevisions {
        let second = try QueryCommand.connect(arguments, diagnostics)
        revisions = try EventRevisions(inSnapshotOf: connection, over: second, upTo: token)
      }
      try target.write { part in
        try write(query, head, revisions, over: connection, to: part)
      }
    }
  }

  private func write(
    _ query: EventQuery, _ head: DocumentHead, _ revisions: EventRevisions?,
    over connection: Connection, to part: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var writer = target.format.makeWriter(isForSpreadsheets: target.isForSpreadsheets)
    // The events whose revisions have still to be counted.
    var waiting: [EventRecord] = []
    func flush() throws {
      let counts = try revisions?.count(of: waiting.compactMap { $0.code }) ?? [:]
      for event in waiting {
        writer.event(event, revision: event.code.flatMap { counts[Array($0.utf8)] })
        if writer.count >= Self.partSize { try writer.drain(part) }
      }
      waiting.removeAll(keepingCapacity: true)
    }
    writer.begin(head)
    try query.read(over: connection) { event in
      if revisions != nil {
        waiting.append(event)
        if waiting.count == Self.countedTogether { try flush() }
      } else {
        writer.event(event, revision: nil)
      }
      if writer.count >= Self.partSize {
        try writer.drain(part)
      }
      bar.advance()
    }
    try flush()
    writer.end()
    try writer.drain(part)
  }

  /// When the events were as the export has them.
  private func moment(of token: ChangeToken?, over connection: Connection) throws -> Timestamp {
    try connection.row(
      """
      select coalesce(
        (select t.at from quake.change_transaction t where t.token = \(token?.number)::bigint), now())
      """, format: .binary, as: Timestamp.self)
  }
}
