import Basics
import CommandLine
import Glibc
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeTool

struct ImportCommand {
  static let table = Command(
    "import", purpose: "import files, URLs or standard input, once",
    discussion: """
      Each source is one import: all of it or nothing, unless --commit-every is given. If a source \
      cannot be read, the others are still imported; the exit status is that of the first failure.
      """,
    options: [
      .value(
        "generated", "TIME",
        help: """
          time at which the snapshots were generated, if they do not state it; a snapshot of unknown age \
          overwrites any other
          """
      ),
      IngestCommand.sourceOption,
      .flag("json", help: "one JSON object for each source instead of a line of text"),
      .value(
        "jobs", "N", default: "1",
        help: """
          with --commit-every: import over N connections, 1 to 16; for catalogues of more than 20,000 \
          events
          """
      ),
    ] + IngestCommand.importOptions(of: "import"),
    positionals: [
      .init(
        "SOURCE", .oneOrMore, completion: .found(or: FeedReference.knownNames, files: true),
        help: """
          file (plain, gzip or Zstandard), pattern such as 'feeds/*.geojson', URL, name of a USGS feed, or \
          - for standard input
          """)
    ],
    examples: [
      .init("quake-ingest import 'feeds/*.geojson' --json", "import all these files"),
      .init("curl -s $URL | quake-ingest import -", "import standard input"),
    ],
    environment: DatabaseAccess.environment)

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
        "option --jobs needs --commit-every: several connections cannot share a transaction")
    }
    database = try DatabaseAccess(arguments, diagnostics, creates: true)
  }

  func run() throws -> ExitStatus {
    Signals.install()
    // A missing source needs no connection, and a wrong name fails before any source is imported.
    let references = sources.map { source in
      Result { try FeedName.reference(source) }
    }
    if references.count == 1 { _ = try references[0].get() }
    let connection = try IngestCommand.connect(to: database)
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
      } catch let error as FeedError where error.category == .interrupted {
        diagnostics.error(
          error.message, hint: "Import it again; events that are stored already do not change.")
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
    failure.report(to: diagnostics)
    if status == .ok { status = failure.status }
  }

  private func importOne(
    _ reference: FeedReference, _ connection: Connection, _ helpers: [Connection],
    _ fetcher: FeedFetcher, _ output: StandardOutput
  ) throws {
    let begun = MonotonicClock.now()
    if case .file(let path) = reference.location, FileSource.kind(of: path) == .pipe {
      diagnostics.note(
        "reading the named pipe \"\(path)\"; waiting for a program that writes to it")
    }
    if case .standardInput = reference.location { TerminalInput.announce("a feed", diagnostics) }
    guard let feed = try open(reference, fetcher) else { return }
    var source = feed.source
    var importOptions = describe(feed, reference)
    let bar = ProgressBar(reference.name, unit: .items("records"), diagnostics: diagnostics)
    bar.share = { [measure = feed.measure] in measure?.share }
    let reopen: Importer.Reopen<FeedImportSource> = { reason, source, newOptions in
      diagnostics.verbose("\(reference): \(reason); importing it once more")
      guard let feed = try open(reference, fetcher) else {
        throw FeedError(
          .httpStatus, "could not fetch \(reference) again",
          detail:
            "The server answered that it has not changed, although the request had no condition.")
      }
      source = feed.source
      bar.share = { [measure = feed.measure] in measure?.share }
      newOptions = describe(feed, reference)
      importOptions = newOptions
    }
    let report: ImportReport
    var refusal: ImportRefusal?
    do {
      report = try Importer(connection: connection, options: importOptions, helpers: helpers).run(
        from: &source, reopen: reference.canBeReadAgain ? reopen : nil,
        shouldStop: { Signals.stopRequested }, progress: { bar.update(done: Int($0)) })
    } catch let error as ImportRefusal {
      // A feed that was read to its end has counts, even if all records were rejected.
      guard let counted = error.report else { throw error }
      report = counted
      refusal = error
    }
    bar.finish()
    let summary = ImportSummary(
      options: importOptions, format: source.format, report: report,
      elapsed: MonotonicClock.now() - begun)
    if refusal == nil, let rejects = summary.rejects {
      diagnostics.warning(rejects.message, hint: rejects.hint, fields: summary.rejectFields)
    }
    // In text output the error says the same.
    if refusal == nil || writesJSON {
      try summary.print(to: output, asJSON: writesJSON, diagnostics)
    }
    if let refusal { throw refusal }
  }

  /// Opens a feed; nil if the server says that it has not changed.
  private func open(_ reference: FeedReference, _ fetcher: FeedFetcher) throws -> OpenFeed? {
    let outcome = try OpenFeed.open(
      reference, over: .stream(fetcher), options.readerOptions(for: reference))
    guard case .opened(let feed) = outcome else { return nil }
    return feed
  }

  private func describe(_ feed: OpenFeed, _ reference: FeedReference) -> ImportOptions {
    var importOptions = options.importOptions(for: reference, program: diagnostics.tool)
    importOptions.describe(feed.response)
    importOptions.scope = reference.scope
    return importOptions
  }

  /// The files that a pattern matches, sorted. `FeedReference` judges a source that is not a pattern.
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
