import Basics
import CommandLine
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeTool
import QuakeWorker

/// Imports the files of a folder, each once, in one transaction that also marks the file as stored.
struct FolderBackfill {
  let path: String
  let backfill: Backfill
  let connection: Connection
  let settings: ImportSettings
  let output: BackfillOutput
  let diagnostics: Diagnostics

  /// Imports the files that are not stored yet; ends early when a stop is requested.
  ///
  /// - Returns: The exit status of the first file that could not be imported; the others are imported.
  func run() throws -> ExitStatus {
    defer { output.stop() }
    let known = BackfillFiles(over: connection)
    let files = try FeedFolder.files(path)
    let pending = try files.filter { try !known.isStored($0) }
    if pending.count < files.count {
      diagnostics.note(
        """
        \(Readable.count(files.count - pending.count)) of \(Readable.count(files.count, "file")) \
        \(files.count - pending.count == 1 ? "is" : "are") stored already
        """)
    }
    output.begin(with: Int64(files.count - pending.count))
    var status = ExitStatus.ok
    var done = Int64(files.count - pending.count)
    for file in pending where !Signals.stopRequested {
      do {
        try store(file, known) {
          done += 1
          output.update(done: done, of: Int64(files.count))
        }
      } catch {
        guard let failure = Failure(error),
          error is FeedError || error is ImportRefusal
        else { throw error }
        guard failure.status != .ok else { break }
        failure.report(about: file.path, to: diagnostics)
        if status == .ok { status = failure.status }
      }
    }
    if done == Int64(files.count) { try backfill.finish(over: connection) }
    try output.end(backfill, try backfill.totals(over: connection)) { json in
      json.member("files", done)
    }
    return status
  }

  private func store(
    _ file: BackfillFiles.File, _ known: BackfillFiles, didStore: () -> Void
  ) throws {
    let begun = MonotonicClock.now()
    let reference = try FeedReference(file.path)
    guard
      case .opened(var feed) = try OpenFeed.open(
        reference, over: .ready(nil), settings.readerOptions(for: reference))
    else { return }
    var options = settings.importOptions(for: reference, program: diagnostics.tool)
    options.feed = "backfill"
    options.context = "backfill \(backfill.id)"
    let report = try Importer(connection: connection, options: options).run(
      from: &feed.source,
      beforeCommit: { try known.markStored(file, of: backfill, with: $0) })
    didStore()
    if let reject = report.firstReject {
      diagnostics.warning(
        "\(report.rejected) of the records of \(file.path) rejected, the first: "
          + "\(reject.place): \(reject.reason)",
        hint: report.rejectsHint)
    }
    try output.part(file.path, report, elapsed: MonotonicClock.now() - begun) { json in
      json.member("backfill", backfill.id)
      json.member("file", file.path)
    }
  }
}
