import CommandLine
import FeedImport
import Glibc
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeSchema
import QuakeTool
import SystemClock

/// `quake-ingest import`: files, URLs and standard input, once.
struct ImportCommand {
  static let table = Command(
    "import", purpose: "import files, URLs or standard input, once",
    discussion: """
      Each source is one import: all of it or nothing, unless --commit-every is given. A source that \
      cannot be read does not keep the others from being imported; the exit status is that of the \
      first that failed.
      """,
    options: [
      .value(
        "generated", "TIME",
        help:
          "when the snapshots were generated, if they do not say so; without it a snapshot of unknown age overwrites any other"
      ),
      IngestCommand.sourceOption,
      .flag("json", help: "one JSON object for each source instead of a line of text"),
      .value(
        "jobs", "N", default: "1",
        help:
          "with --commit-every: work over so many connections at a time, 1 to 16; for catalogues of more than 20,000 events"
      ),
    ] + IngestCommand.importOptions(of: "import"),
    positionals: [
      .init(
        "SOURCE", .oneOrMore, completion: .files,
        help: """
          file (plain or gzip), pattern such as 'feeds/*.geojson', URL, name of a USGS feed, or \
          - for standard input
          """)
    ],
    examples: [
      .init("quake-ingest import 'feeds/*.geojson' --json", "import all these files"),
      .init("curl -s $URL | quake-ingest import -", "import standard input"),
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  private let database: DatabaseAccess
  private let diagnostics: Diagnostics
  private let options: ImportSettings
  private let sources: [SecretText]
  private let writesJSON: Bool
  private let jobs: Int

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    self.diagnostics = diagnostics
    options = try ImportSettings(arguments)
    sources = try arguments.positionals.flatMap { argument in
      let source = try arguments.secretText(argument, option: nil)
      guard source.secrets.isEmpty else { return [source] }
      return try Self.expand(source.text).map { SecretText($0) }
    }
    writesJSON = arguments.flag("json")
    jobs = try arguments.integer("jobs", in: 1...16) ?? 1
    if jobs > 1, !arguments.isGiven("commit-every") {
      throw arguments.usageError(
        "option --jobs needs --commit-every: what several connections do is not one transaction")
    }
    database = try DatabaseAccess(arguments, diagnostics)
  }

  func run() throws -> ExitStatus {
    Signals.install()
    // A source that is not there should not cost a connection, nor a name that is wrong an import.
    let references = sources.map { source in
      Result { try FeedReference(source.text, secrets: source.secrets) }
    }
    if references.count == 1 { _ = try references[0].get() }
    let connection = try IngestCommand.connect(to: database)
    try Migrator.checkSchema(of: connection)
    let helpers = try (1..<jobs).map { _ in
      try database.open(wake: Signals.wakeDescriptor)
    }
    let fetcher = FeedFetcher(options)
    let output = StandardOutput()
    var status = ExitStatus.ok
    for reference in references {
      if Signals.stopRequested { break }
      do {
        try importOne(try reference.get(), connection, helpers, fetcher, output)
      } catch let error as FeedError where error.kind == .interrupted {
        diagnostics.error(
          error.message, hint: "Import it again; what is stored already stays as it is.")
        return .failed
      } catch let error as FeedError where references.count > 1 {
        guard let failure = Failure(error) else { throw error }
        report(failure, &status)
      } catch  where references.count > 1 && (error is StoreError || error is ImportRefusal) {
        guard let failure = Failure(error) else { throw error }
        report(failure, &status)
      }
    }
    try output.flush()
    return status
  }

  private func report(_ failure: Failure, _ status: inout ExitStatus) {
    diagnostics.error(
      failure.message, detail: failure.detail, hints: failure.hint.map { [$0] } ?? [],
      fields: ["status": .integer(Int64(failure.status.rawValue))])
    if status == .ok { status = failure.status }
  }

  /// Imports a source; what can be read again is brought in the fast way first.
  private func importOne(
    _ reference: FeedReference, _ connection: Connection, _ helpers: [Connection],
    _ fetcher: FeedFetcher, _ output: StandardOutput
  ) throws {
    let isOrdered = !Self.canBeReadAgain(reference)
    do {
      try importOne(reference, isOrdered: isOrdered, connection, helpers, fetcher, output)
    } catch let error as OrderNeeded {
      diagnostics.verbose("\(reference): \(error.reason); importing it once more")
      try importOne(reference, isOrdered: true, connection, helpers, fetcher, output)
    }
  }

  private func importOne(
    _ reference: FeedReference, isOrdered: Bool, _ connection: Connection, _ helpers: [Connection],
    _ fetcher: FeedFetcher, _ output: StandardOutput
  ) throws {
    let begun = MonotonicClock.now()
    if case .file(let path) = reference.location, FileSource.kind(of: path) == .pipe {
      diagnostics.note("reading the named pipe \"\(path)\"; waiting for somebody to write to it")
    }
    guard
      case .opened(var feed) = try OpenFeed.open(
        reference, over: .stream(fetcher), strict: options.isStrict, centre: options.centre)
    else { return }
    var importOptions = options.importOptions(for: reference, program: diagnostics.tool)
    feed.describe(in: &importOptions)
    importOptions.scope = reference.scope
    importOptions.isOrdered = isOrdered
    let bar = ProgressBar(reference.name, unit: .items("records"), diagnostics: diagnostics)
    let importer = Importer(connection: connection, options: importOptions, helpers: helpers)
    let report: ImportReport
    var refusal: ImportRefusal?
    do {
      report = try importer.run(from: &feed.source, shouldStop: { Signals.stopRequested }) {
        bar.update(done: Int($0))
      }
    } catch let error as ImportRefusal {
      // A feed that was read whole has its counts, also if none of it could be taken.
      guard let counted = error.report else { throw error }
      report = counted
      refusal = error
    }
    bar.finish()
    let summary = ImportSummary(
      options: importOptions, format: feed.source.format, report: report,
      elapsed: MonotonicClock.now() - begun)
    if refusal == nil, let rejects = summary.rejects {
      diagnostics.warning(rejects.message, hint: rejects.hint, fields: summary.rejectFields)
    }
    // For people the error says it all.
    if refusal == nil || writesJSON { try summary.print(to: output, asJSON: writesJSON) }
    if let refusal { throw refusal }
  }

  private static func canBeReadAgain(_ reference: FeedReference) -> Bool {
    switch reference.location {
    case .url: return true
    case .standardInput: return false
    case .file(let path): return FileSource.kind(of: path) == .regular
    }
  }

  /// The files a pattern matches, in order; what is no pattern, or matches nothing, is left for
  /// `FeedReference` to judge.
  private static func expand(_ source: String) throws -> [String] {
    guard source.contains(where: { "*?[".contains($0) }), !source.contains("://"),
      access(source, F_OK) != 0
    else { return [source] }
    var matches = glob_t()
    defer { globfree(&matches) }
    guard glob(source, 0, nil, &matches) == 0 else {
      throw FeedError(
        .fileNotFound, "no file matches \"\(source)\"", hint: "Check the pattern.")
    }
    return (0..<Int(matches.gl_pathc)).compactMap { index in
      matches.gl_pathv[index].map { String(cString: $0) }
    }
  }
}
