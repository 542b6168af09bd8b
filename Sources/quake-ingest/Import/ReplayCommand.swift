import Basics
import CommandLine
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeTool

/// `quake-ingest replay`: imports past snapshots in their order, as if they arrived now.
struct ReplayCommand {
  static let table = Command(
    "replay", purpose: "import dated snapshots of a feed in their order",
    discussion: """
      The name of each file contains the time at which its snapshot was generated, as in \
      all_day_2026-08-15T0040Z.csv. Snapshots are judged as run judges them.
      """,
    options: [
      .value(
        "feed", "NAME",
        completion: .found(stored: "feeds", or: FeedReference.knownNames),
        help: "feed of the snapshots; by default the one in their names, such as all_day"),
      .flag("json", help: "one JSON object for each snapshot instead of a line of text"),
    ] + IngestCommand.importOptions(of: "replay") + JudgingOptions.options,
    positionals: [
      .init(
        "DIRECTORY", completion: .folders, help: "folder of the snapshots; plain, gzip or Zstandard"
      )
    ],
    examples: [
      .init("quake-ingest replay snapshots/", "rebuild the history of these days")
    ],
    environment: DatabaseAccess.environment)

  private let database: DatabaseAccess
  private let diagnostics: Diagnostics
  private let settings: ImportSettings
  private let judging: JudgingOptions
  private let directory: String
  private let feed: String?
  private let writesJSON: Bool

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    self.diagnostics = diagnostics
    settings = try ImportSettings(arguments)
    // A replay may be older than the store. Then the merge decides for each event by itself.
    judging = try JudgingOptions(arguments, longestSilence: .seconds(3 * 3600), refusesOlder: false)
    directory = arguments.positional("DIRECTORY") ?? "."
    feed = arguments.string("feed")
    writesJSON = arguments.flag("json")
    database = try DatabaseAccess(arguments, diagnostics, creates: true)
  }

  func run() throws -> ExitStatus {
    Signals.install()
    let (snapshots, others) = try SnapshotFile.all(in: directory)
    guard !snapshots.isEmpty else {
      throw FeedError(
        .fileNotFound, "there are no dated snapshots in \"\(directory)\"",
        detail: others == 1
          ? "Its only file has no time such as 2026-08-15T0040Z in its name."
          : "None of its \(others) files has a time such as 2026-08-15T0040Z in its name.")
    }
    if others > 0 {
      diagnostics.note(
        "left out \(Readable.count(others, "file")) without a time such as 2026-08-15T0040Z in the name"
      )
    }
    let connection = try IngestCommand.connect(to: database)
    let output = StandardOutput()
    var total = Total()
    let bar = ProgressBar(
      "replay", unit: .items("snapshots"), total: snapshots.count, diagnostics: diagnostics)
    for snapshot in snapshots where !Signals.stopRequested {
      try replay(snapshot, connection, output, &total) { bar.finish() }
      bar.advance()
    }
    bar.finish()
    try output.flush()
    diagnostics.note(total.text(of: snapshots.count))
    return total.status
  }

  private func replay(
    _ snapshot: SnapshotFile, _ connection: Connection, _ output: StandardOutput,
    _ total: inout Total, beforePrinting: () -> Void
  ) throws {
    let reference = try FeedReference(snapshot.path)
    var options = settings.importOptions(for: reference, program: diagnostics.tool)
    options.feed = feed ?? FeedReference.summaryName(in: reference.name) ?? reference.name
    options.generated = snapshot.taken
    judging.complete(
      &options, scope: FeedReference.scope(of: options.feed) ?? reference.scope)
    do {
      let outcome = try JudgedFeedImport(
        connection: connection, reading: settings.readerOptions(for: reference)
      ).run(reference, over: .ready(nil), options: options)
      guard case .imported(let summary, _) = outcome else { return }
      total.add(summary.report)
      beforePrinting()
      try summary.print(to: output, asJSON: writesJSON, diagnostics)
    } catch let error as FeedError where error.category != .interrupted {
      guard let failure = Failure(error) else { throw error }
      // A body in quarantine is no failure of the command.
      total.failed(QuarantineVerdict(error) == nil ? failure.status : .ok)
      diagnostics.warning(failure.message, detail: failure.detail, hint: failure.hint)
    }
  }

  private struct Total {
    private var report = ImportReport()
    private var applied = 0
    private var setAside = 0
    private(set) var status = ExitStatus.ok

    mutating func add(_ report: ImportReport) {
      if report.quarantine != nil { setAside += 1 } else { applied += 1 }
      self.report.add(report)
    }

    mutating func failed(_ status: ExitStatus) {
      setAside += 1
      if self.status == .ok { self.status = status }
    }

    func text(of count: Int) -> String {
      func number(_ value: Int64) -> String { Readable.count(Int(value)) }
      return """
        replayed \(applied) of \(Readable.count(count, "snapshot")), set \(setAside) aside: \
        \(Readable.count(report.inserted, "event")) inserted, \(number(report.updated)) updated, \
        \(number(report.superseded)) superseded, \(number(report.withdrawn)) withdrawn, \
        \(number(report.restored)) restored
        """
    }
  }
}
