internal import Postgres
public import QuakeFeed
public import QuakeImport
public import QuakeModel
internal import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Imports. Each call has a connection and a thread of its own. An import is one transaction: all of it is
/// stored, or nothing; events that did not change are not written. If the calling task is cancelled, the import
/// is rolled back.
extension QuakeDatabase {
  /// Imports a feed: one of USGS's by its name, a URL or a file, in any format that `quake-ingest import` reads.
  ///
  /// ```swift
  /// let report = try await database.importQuakes(from: FeedReference("all_day"))
  /// ```
  ///
  /// - Parameters:
  ///   - feed: The feed, which is read as it arrives.
  ///   - configure: Changes the options of the import: its author, which is otherwise the name of the program,
  ///     or what happens to stored events with other contents.
  ///   - progress: Is called now and then with the number of records read so far.
  /// - Returns: The counts of the import.
  /// - Throws: `FeedError`; `ImportRefusal` if no record can be imported; otherwise as `check()`.
  @discardableResult
  public func importQuakes(
    from feed: FeedReference,
    configure: @Sendable (inout ImportOptions) -> Void = { _ in },
    progress: @escaping @Sendable (_ records: Int64) -> Void = { _ in }
  ) async throws -> ImportReport {
    var options = importOptions(source: feed.description, feed: feed.name)
    options.scope = feed.scope
    configure(&options)
    let cancellation = ImportCancellation()
    return try await withTaskCancellationHandler {
      try await ask { [options] connection in
        try FeedSession(feed, program: options.program, cancellation).run(
          over: connection, options, progress: progress)
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// Imports a feed at a URL: `http`, `https`, or a file.
  ///
  /// The parameters, results and errors are those of the other import of a feed.
  @discardableResult
  public func importQuakes(
    from url: URL,
    configure: @Sendable (inout ImportOptions) -> Void = { _ in },
    progress: @escaping @Sendable (_ records: Int64) -> Void = { _ in }
  ) async throws -> ImportReport {
    let feed = try FeedReference(url.isFileURL ? url.path : url.absoluteString)
    return try await importQuakes(from: feed, configure: configure, progress: progress)
  }

  /// Imports the records of a sequence, as it produces them. The sequence waits while the database is busy.
  ///
  /// ```swift
  /// var quake = QuakeRecord()
  /// quake.code = "local1"
  /// quake.time = Timestamp(Date())
  /// (quake.latitude, quake.longitude) = (37.5, 143.2)
  /// let quakes = AsyncStream { $0.yield(quake); $0.finish() }
  /// try await database.importQuakes(from: quakes, named: "bulletin")
  /// ```
  ///
  /// The transaction is open until the sequence ends. If the sequence pauses for long between its records, import
  /// them in parts.
  ///
  /// A record needs a code, an origin time and coordinates. One that cannot be stored is rejected, with the
  /// reason in `quake.import_reject`; the others are imported.
  ///
  /// - Parameters:
  ///   - records: The records. An error of the sequence rolls the import back, and is thrown.
  ///   - name: What the history calls their source.
  ///   - columns: The columns that the records fill. An import sets these, also to null, and leaves the others
  ///     of a stored event as they are.
  ///   - generated: When the records were put together; older ones do not overwrite newer ones. Nil: unknown.
  ///   - configure: Changes the options of the import.
  ///   - progress: Is called now and then with the number of records read so far.
  /// - Returns: The counts of the import.
  /// - Throws: The error of the sequence; `ImportRefusal` if no record can be imported; otherwise as `check()`.
  @discardableResult
  public func importQuakes<Records: AsyncSequence & Sendable>(
    from records: Records, named name: String, columns: [QuakeColumn] = QuakeColumn.feed,
    generated: Timestamp? = nil,
    configure: @Sendable (inout ImportOptions) -> Void = { _ in },
    progress: @escaping @Sendable (_ records: Int64) -> Void = { _ in }
  ) async throws -> ImportReport where Records.Element == QuakeRecord {
    var options = importOptions(source: name, feed: name)
    configure(&options)
    let channel = try RecordChannel()
    return try await withThrowingTaskGroup(of: ImportReport?.self) { [options] group in
      defer { group.cancelAll() }
      group.addTask {
        do {
          for try await record in records {
            guard await channel.send(record) else { return nil }
          }
          // A sequence may end because its task was cancelled; then the records are not all.
          try Task.checkCancellation()
          channel.finish(.success(()))
        } catch {
          channel.finish(.failure(error))
        }
        return nil
      }
      group.addTask {
        defer { channel.close() }
        return try await self.ask { connection in
          var source = RecordStreamSource(channel, columns: columns, generated: generated)
          return try Importer(connection: connection, options: options)
            .run(from: &source, progress: progress)
        }
      }
      while let outcome = try await group.next() {
        if let outcome { return outcome }
      }
      throw CancellationError()
    }
  }

  private func importOptions(source: String, feed: String) -> ImportOptions {
    ImportOptions(
      source: source, feed: feed, program: settings.applicationName,
      author: settings.applicationName)
  }
}

/// One import of a feed over a connection, on the thread of the caller.
struct FeedSession {
  private let feed: FeedReference
  private let client: FeedClient
  private let interrupt: () -> Bool

  /// - Parameter program: The program's name, which the servers see.
  init(_ feed: FeedReference, program: String, _ cancellation: ImportCancellation) {
    self.feed = feed
    interrupt = { cancellation.isCancelled }
    client = FeedClient(
      options: FeedClient.Options(userAgent: "quake (\(program))", interrupt: interrupt))
  }

  func run(
    over connection: Connection, _ options: ImportOptions, progress: (Int64) -> Void
  ) throws -> ImportReport {
    let opened = try open()
    var source = opened.source
    var described = options
    described.describe(opened.response)
    let reopen: Importer.Reopen<FeedImportSource> = { _, source, again in
      let opened = try open()
      source = opened.source
      again = options
      again.describe(opened.response)
    }
    return try Importer(connection: connection, options: described)
      .run(
        from: &source, reopen: feed.canBeReadAgain ? reopen : nil, shouldStop: interrupt,
        progress: progress)
  }

  private func open() throws(FeedError) -> (source: FeedImportSource, response: FeedResponse?) {
    var options = FeedReader.Options()
    var response: FeedResponse?
    let body: any ByteSource
    switch feed.location {
    case .file(let path): body = try FileSource(path: path, interrupt: interrupt)
    case .standardInput: body = FileDescriptorSource.standardInput(interrupt: interrupt)
    case .url(let url):
      options.service = DataCentre(url: url.text)
      let answer = try client.open(url: url)
      guard !answer.isEmpty else { return (FeedImportSource(nil), answer) }
      response = answer
      body = answer.body
    }
    let reader = try FeedReader(source: body, name: feed.description, options: options)
    return (FeedImportSource(reader), response)
  }
}

/// The records of an asynchronous sequence as the source of an import.
struct RecordStreamSource: ImportSource {
  let columns: [QuakeColumn]
  let format = "records"
  let generated: Timestamp?
  let mayTellGenerated = false
  private(set) var bytesRead: Int64 = 0
  private let channel: RecordChannel
  private var received: ArraySlice<QuakeRecord> = []
  private var number = 0

  init(_ channel: RecordChannel, columns: [QuakeColumn], generated: Timestamp?) {
    self.channel = channel
    self.columns = columns
    self.generated = generated
  }

  mutating func next(into record: inout QuakeRecord) throws -> ImportItem? {
    if received.isEmpty { received = try channel.receive()[...] }
    guard var next = received.popFirst() else { return nil }
    number += 1
    guard let reason = RecordCheck.normalise(&next) else {
      record = next
      return .record
    }
    return .reject(
      ImportReject(
        place: "record \(number)", reason: reason.text, raw: next.title ?? next.place ?? "",
        code: next.code, isOfTime: reason.isOfTime))
  }
}

/// Tells a thread that imports that its task was cancelled.
final class ImportCancellation: Sendable {
  private let flag = Atomic(false)

  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  func cancel() { flag.store(true, ordering: .relaxed) }
}
