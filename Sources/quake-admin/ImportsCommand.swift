import CommandLine
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeTool

/// `quake-admin imports`: lists imports, and applies or discards quarantined snapshots.
enum ImportsCommand {
  static let table = Command(
    "imports", purpose: "list imports, and apply or discard quarantined snapshots",
    discussion: """
      Without an action, this command lists imports. "apply" imports a quarantined snapshot despite \
      its faults; it does not change events that a newer snapshot has changed since. "discard" \
      marks it as discarded and deletes its body; "discard --all" does so with all that are neither \
      applied nor discarded. Both discards ask first on a terminal; elsewhere "discard --all" needs --yes. \
      "body" prints the body as it was received.
      """,
    options: [
      .flag(
        "quarantined", help: "only quarantined snapshots that are neither applied nor discarded"),
      .flag("all", help: "discard all quarantined snapshots").onCommandLineOnly(),
      Consent.option,
      .limit(default: "50", help: "the newest N at most"),
      .flag("json", help: "one JSON object a line"),
    ],
    positionals: [
      .init(
        "ACTION", .optional, completion: .words(["apply", "discard", "body"]),
        help: "apply, discard or body"),
      .init(
        "ID", .optional, completion: .found(stored: "imports"),
        help: "number of the import to act on"),
    ],
    examples: [
      .init("quake-admin imports --quarantined", "quarantined snapshots with their reasons"),
      .init("quake-admin imports apply 17", "import a quarantined snapshot"),
      .init("quake-admin imports discard --all", "discard all quarantined snapshots"),
    ],
    environment: DatabaseAccess.environment + [TemporaryFolder.variable])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let action = arguments.positional("ACTION")
    guard action == nil || ["apply", "discard", "body"].contains(action) else {
      throw arguments.usageError(
        "unknown action '\(action ?? "")': expected apply, discard or body",
        suggestion: Suggestion.nearest(to: action ?? "", among: ["apply", "discard", "body"]))
    }
    if arguments.flag("all") {
      guard action == "discard", arguments.positional("ID") == nil else {
        throw arguments.usageError("--all is only for \"discard\" without the number of an import")
      }
      return try discardAll(arguments, diagnostics)
    }
    guard !arguments.flag("yes") || action == "discard" else {
      throw arguments.usageError("--yes is only for \"discard\"")
    }
    let id = try action.map { try number(arguments, for: $0) }
    // An import finishes after the first signal; the other actions may be killed at any point.
    if action == "apply" { Signals.install() }
    let connection = try DatabaseAccess(arguments, diagnostics).connectToStore()
    switch (action, id) {
    case ("apply", let id?): return try apply(id, connection, arguments, diagnostics)
    case ("discard", let id?):
      let consent = try Consent(arguments, diagnostics, isNeededElsewhere: false)
      guard consent.isGiven("Discard the body of import \(id) for ever?") else { return .failed }
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

  private static func discardAll(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let consent = try Consent(arguments, diagnostics)
    let connection = try DatabaseAccess(arguments, diagnostics)
      .connectToStore(answerTimeout: .seconds(600))
    let quarantine = Quarantine(connection: connection)
    let pending = try quarantine.pending()
    guard let newest = pending.newest else {
      diagnostics.note("no snapshot is in quarantine")
      return .ok
    }
    let snapshots = Readable.count(pending.count, "snapshot in quarantine")
    guard consent.isGiven("Discard \(snapshots)?") else { return .failed }
    // Not those that were quarantined after the question.
    let discarded = try connection.transaction { try quarantine.discardAll(upTo: newest) }
    diagnostics.note("discarded \(Readable.count(discarded, "snapshot in quarantine"))")
    return .ok
  }

  private static func list(_ arguments: ParsedArguments, _ connection: Connection) throws {
    let entries = try ImportList.read(
      quarantined: arguments.flag("quarantined"),
      limit: try arguments.integer("limit", in: 1...).map { Int64($0) } ?? 50, over: connection)
    try ImportsOutput.write(entries, isJSON: arguments.flag("json"))
  }

  private static func body(of id: Int64, _ connection: Connection) throws -> any ByteSource {
    if let body = try QuarantinedFeed(import: id, over: connection).open(
      in: TemporaryFolder.path)
    {
      return body
    }
    throw StoreError(
      .badData, "the store has no body of import \(id)",
      hint: "\"quake-admin imports --quarantined\" lists the imports that have one.")
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
    // The scope, so that events which this snapshot lacks are not counted as missing from later ones.
    options.scope = FeedReference.scope(of: entry.scope ?? entry.feed)
    // The worker that put it into quarantine would have refused simulated events.
    options.mixesSimulated = true
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
          "\"quake-admin imports body \(id)\" prints it as it came, \"quake-admin imports discard \(id)\" deletes it."
      )
    }
    if arguments.flag("json"), let applied = report.id,
      let entry = try ImportList.find(applied, over: connection)
    {
      try ImportsOutput.write([entry], isJSON: true)
    } else {
      let output = StandardOutput()
      try output.writeResult(
        """
        applied import \(id) as import \(report.id ?? 0): \(Readable.count(Int(report.inserted))) \
        inserted, \(Readable.count(Int(report.updated))) updated
        """, diagnostics)
      try output.flush()
    }
    return .ok
  }

  private static func printBody(of id: Int64, _ connection: Connection) throws {
    let body = try body(of: id, connection)
    let output = StandardOutput()
    // No other command prints bytes of a feed unchanged; they could contain control sequences.
    guard !Terminal.isTerminal(output.descriptor) else {
      throw StoreError(
        .badData,
        "the body of import \(id) is not printed on a terminal, because it is not cleaned of control characters",
        hint: "Redirect it to a file or a program: quake-admin imports body \(id) > FILE")
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { buffer.deallocate() }
    while case let count = try body.read(into: buffer), count > 0 {
      try output.write(Array(buffer[..<count]))
    }
    try output.flush()
  }
}

enum ImportsOutput {
  static func write(_ entries: [ImportList.Entry], isJSON: Bool) throws {
    try StandardOutput().write(
      entries, isJSON: isJSON, members: members(of:to:), text: table(of:))
  }

  private static func table(of entries: [ImportList.Entry]) -> String {
    var table = TextTable([
      .number("import"), .text("feed"), .text("generated"), .number("seen"), .number("inserted"),
      .number("updated"), .text("quarantine"),
    ])
    for entry in entries {
      table.add([
        "\(entry.id)", PrintableText.line(entry.feed), entry.generated?.text ?? "",
        "\(entry.report.seen)", "\(entry.report.inserted)", "\(entry.report.updated)",
        aside(entry),
      ])
    }
    return table.render()
  }

  private static func aside(_ entry: ImportList.Entry) -> String {
    guard let quarantine = entry.report.quarantine else { return "" }
    let decision = entry.decision.map { decision in
      decision + (entry.appliedBy.map { " by import \($0)" } ?? "") + "; "
    }
    return PrintableText.line(
      (decision ?? "") + "\(quarantine.reason.rawValue): \(quarantine.detail)")
  }

  private static func members(of entry: ImportList.Entry, to json: inout JSONWriter) {
    let report = entry.report
    json.member("import", entry.id)
    json.member("feed", entry.feed)
    json.member("source", entry.source)
    json.member("format", entry.format)
    json.member("generated", entry.generated)
    json.member("started_at", entry.startedAt)
    report.writeCounts(to: &json)
    report.writeOtherCounts(to: &json)
    json.member("bytes", report.bytes)
    json.member("quarantine_reason", report.quarantine?.reason.rawValue)
    json.member("quarantine_detail", report.quarantine?.detail)
    json.member("kept_bytes", entry.keptBytes)
    json.member("decision", entry.decision)
    json.member("applied_import", entry.appliedBy)
  }
}
