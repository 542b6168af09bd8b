internal import Basics
internal import Postgres
internal import QuakeFeed
public import QuakeImport
public import QuakeModel
internal import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Imports. Each call has a connection and a thread of its own. An import is one transaction unless its options say
/// otherwise: all of it is stored, or nothing; events that did not change are not written. If the calling task is
/// cancelled, the import is rolled back, unless its commit is already under way.
extension QuakeDatabase {
  /// Imports a feed: one of USGS's by its name, a URL or a file, in any format that `quake-ingest import` reads.
  ///
  /// ```swift
  /// let report = try await database.importFeed("all_day")
  /// ```
  ///
  /// - Parameters:
  ///   - feed: The feed, which is read as it arrives.
  ///   - configure: Changes the options of the import: its author, which is otherwise the name of the program,
  ///     or what happens to stored events with other contents.
  ///   - progress: Is called now and then with the number of records read so far.
  /// - Returns: The counts of the import.
  /// - Throws: An error of category `unavailable` if the feed cannot be fetched, of category `badData` if it cannot be
  ///   read or none of its records can be imported; otherwise as `check()`.
  @discardableResult
  public func importFeed(
    _ feed: String, configure: @Sendable (inout ImportOptions) -> Void = { _ in },
    progress: @escaping @Sendable (_ records: Int64) -> Void = { _ in }
  ) async throws -> ImportReport {
    let answer = try await importFeed(
      FeedReference(feed), after: nil, configure: configure, progress: progress)
    // A server that got no validators has sent the feed.
    return answer.report ?? ImportReport()
  }

  /// Imports a feed at a URL: `http`, `https`, or a file.
  ///
  /// The parameters, results and errors are those of the other import of a feed.
  @discardableResult
  public func importFeed(
    _ url: URL, configure: @Sendable (inout ImportOptions) -> Void = { _ in },
    progress: @escaping @Sendable (_ records: Int64) -> Void = { _ in }
  ) async throws -> ImportReport {
    try await importFeed(
      url.isFileURL ? url.path : url.absoluteString, configure: configure, progress: progress)
  }

  /// Imports a feed, unless its server says that it is the one with these validators.
  func importFeed(
    _ feed: FeedReference, after validators: FeedValidators?,
    configure: @Sendable (inout ImportOptions) -> Void,
    progress: @escaping @Sendable (_ records: Int64) -> Void
  ) async throws -> FeedAnswer {
    var options = importOptions(source: feed.description, feed: feed.name)
    options.scope = feed.scope
    configure(&options)
    let cancellation = ImportCancellation()
    let answer = try await withTaskCancellationHandler {
      try await withConnection { [options] connection in
        try FeedSession(feed, program: options.program, cancellation).run(
          over: connection, options, after: validators, progress: progress)
      }
    } onCancel: {
      cancellation.cancel()
    }
    if let report = answer.report { tell(of: report, from: feed.name) }
    return answer
  }

  /// Imports the events of a collection, or of another sequence.
  ///
  /// ```swift
  /// try await database.importEvents(
  ///   quakes, named: "bulletin", columns: [.code, .time, .latitude, .longitude, .magnitude])
  /// ```
  ///
  /// An event needs a code, an origin time and coordinates. One that cannot be stored is rejected, with the
  /// reason in `quake.import_reject`; the others are imported.
  ///
  /// - Parameters:
  ///   - events: The events, which are read on the thread of the import.
  ///   - name: What the history calls their source.
  ///   - columns: The columns that the events fill, among them the code, the time and the coordinates. An import sets
  ///     these, also to null, and leaves the others of a stored event as they are.
  ///   - generated: When the events were put together; older ones do not overwrite newer ones. Nil: unknown.
  ///   - configure: Changes the options of the import.
  ///   - progress: Is called now and then with the number of records read so far.
  /// - Returns: The counts of the import.
  /// - Throws: An error of category `badData` if none of the events can be imported, of category `usage` if the columns
  ///   lack a necessary one or have one that no source fills; otherwise as `check()`.
  @discardableResult
  public func importEvents(
    _ events: some Sequence<EventRecord> & Sendable, named name: String,
    columns: [EventColumn] = EventColumn.feed, generated: Timestamp? = nil,
    configure: @Sendable (inout ImportOptions) -> Void = { _ in },
    progress: @escaping @Sendable (_ records: Int64) -> Void = { _ in }
  ) async throws -> ImportReport {
    try await importEvents(
      named: name, columns, generated, configure, progress,
      from: {
        var events = events.makeIterator()
        return { events.next().map { .success($0) } }
      })
  }

  /// Imports the events of a sequence that reads them from somewhere: the failures among its elements are stored as
  /// rejects, with their reasons.
  ///
  /// The parameters, results and errors are those of the other import of a sequence.
  @discardableResult
  public func importEvents(
    _ results: some Sequence<Result<EventRecord, ImportReject>> & Sendable, named name: String,
    columns: [EventColumn] = EventColumn.feed, generated: Timestamp? = nil,
    configure: @Sendable (inout ImportOptions) -> Void = { _ in },
    progress: @escaping @Sendable (_ records: Int64) -> Void = { _ in }
  ) async throws -> ImportReport {
    try await importEvents(
      named: name, columns, generated, configure, progress,
      from: {
        var results = results.makeIterator()
        return { results.next() }
      })
  }

  /// Imports the events of an asynchronous sequence, as it produces them. The sequence waits while the database is
  /// busy.
  ///
  /// The transaction is open until the sequence ends. If the sequence pauses for long between its events, import
  /// them in parts. An error of the sequence rolls the import back, and is thrown; otherwise the parameters, results
  /// and errors are those of the import of a sequence that is not asynchronous.
  ///
  /// If the calling task is cancelled, so is the task that asks the sequence for events. The call ends when the `next()`
  /// of the sequence has returned: one that does not end when its task is cancelled delays it.
  @discardableResult
  public func importEvents<Events: AsyncSequence & Sendable>(
    _ events: Events, named name: String, columns: [EventColumn] = EventColumn.feed,
    generated: Timestamp? = nil,
    configure: @Sendable (inout ImportOptions) -> Void = { _ in },
    progress: @escaping @Sendable (_ records: Int64) -> Void = { _ in }
  ) async throws -> ImportReport where Events.Element == EventRecord {
    let columns = try Self.checked(columns)
    let channel = try RecordChannel()
    return try await withThrowingTaskGroup(of: ImportReport?.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        do {
          for try await event in events {
            guard await channel.send(event) else { return nil }
          }
          // A sequence may end because its task was cancelled; then the events are not all.
          try Task.checkCancellation()
          channel.finish(.success(()))
        } catch {
          channel.finish(.failure(error))
        }
        return nil
      }
      var options = importOptions(source: name, feed: name)
      configure(&options)
      group.addTask { [options] in
        defer { channel.close() }
        return try await self.importEvents(
          options, columns, generated, progress,
          from: {
            var received: ArraySlice<EventRecord> = []
            return {
              if received.isEmpty { received = try channel.receive()[...] }
              return received.popFirst().map { .success($0) }
            }
          })
      }
      while let outcome = try await group.next() {
        if let outcome { return outcome }
      }
      throw CancellationError()
    }
  }

  private func importEvents(
    named name: String, _ columns: [EventColumn], _ generated: Timestamp?,
    _ configure: @Sendable (inout ImportOptions) -> Void,
    _ progress: @escaping @Sendable (Int64) -> Void,
    from makeNext: @escaping @Sendable () -> SequenceSource.Next
  ) async throws -> ImportReport {
    let columns = try Self.checked(columns)
    var options = importOptions(source: name, feed: name)
    configure(&options)
    return try await importEvents(options, columns, generated, progress, from: makeNext)
  }

  /// The columns, each once.
  ///
  /// - Throws: `StoreError` of kind `usage` if an event that has only these columns could not be stored, or an import
  ///   cannot set one of them.
  private static func checked(_ columns: [EventColumn]) throws(StoreError) -> [EventColumn] {
    let wanted = Set(columns)
    let necessary: [EventColumn] = [.code, .time, .latitude, .longitude]
    if let missing = necessary.first(where: { !wanted.contains($0) }) {
      throw StoreError(
        .usage, "cannot import events without column \"\(missing.name)\"",
        hint: "The columns of an import have \(necessary.map(\.name).joined(separator: ", ")).")
    }
    if let other = columns.first(where: { !EventColumn.feed.contains($0) }) {
      throw StoreError(
        .usage, "an import cannot set column \"\(other.name)\"",
        hint: "EventColumn.feed has the columns that it can set.")
    }
    return EventColumn.feed.filter(wanted.contains)
  }

  private func importEvents(
    _ options: ImportOptions, _ columns: [EventColumn], _ generated: Timestamp?,
    _ progress: @escaping @Sendable (Int64) -> Void,
    from makeNext: @escaping @Sendable () -> SequenceSource.Next
  ) async throws -> ImportReport {
    let report = try await withConnection { connection in
      var source = SequenceSource(columns: columns, generated: generated, makeNext())
      return try Importer(connection: connection, options: options)
        .run(from: &source, progress: progress)
    }
    tell(of: report, from: options.feed)
    return report
  }

  private func importOptions(source: String, feed: String) -> ImportOptions {
    ImportOptions(
      source: source, feed: feed, program: settings.applicationName,
      author: settings.applicationName)
  }

  private func tell(of report: ImportReport, from name: String) {
    log(
      LogEvent(
        .info,
        "imported \(name): \(report.inserted) new, \(report.updated) updated, \(report.rejected) rejected"
      ))
  }
}

/// Imports feeds again and again, each when a time has passed since its last import, until its task is cancelled.
///
/// ```swift
/// try await FeedFollower(database, feeds: ["all_hour"], every: .seconds(60)).run()
/// ```
///
/// A server gets the validators of its last answer, and need not send a feed that has not changed. A feed or a
/// database that is unavailable, or a feed that cannot be read, is reported to the database's log and tried again.
/// `quake-ingest run` does more: it judges snapshots, backs off, and shares feeds with other workers.
public struct FeedFollower: Sendable {
  private let database: QuakeDatabase
  private let feeds: [String]
  private let interval: Duration

  /// A second, so that a feed is not asked for without a pause; ten years, because a pause of some centuries would
  /// overflow the clock.
  private static let shortestInterval = Duration.seconds(1)
  private static let longestInterval = Duration.seconds(10 * 365 * 86_400)

  /// A follower of feeds.
  ///
  /// - Parameters:
  ///   - feeds: Names of USGS's feeds, URLs or files.
  ///   - interval: The time from the end of one round of imports to the next, at least a second.
  public init(_ database: QuakeDatabase, feeds: [String], every interval: Duration) {
    self.database = database
    self.feeds = feeds
    self.interval = min(max(interval, Self.shortestInterval), Self.longestInterval)
  }

  /// Follows the feeds. Returns when the task is cancelled.
  ///
  /// - Throws: Errors that do not pass: of the name of a feed, of a privilege or of the schema.
  public func run() async throws {
    let feeds = try feeds.map { try FeedReference($0) }
    var validators: [FeedReference: FeedValidators] = [:]
    do {
      while true {
        for feed in feeds {
          do {
            validators[feed] = try await database.importFeed(
              feed, after: validators[feed], configure: { _ in }, progress: { _ in }
            ).validators
          } catch let error as any ExplainedError where error.mayPass {
            try Task.checkCancellation()
            database.log(
              QuakeDatabase.LogEvent(.warning, "could not import \(feed.name): \(error)"))
          }
        }
        try await Task.sleep(for: interval)
      }
    } catch is CancellationError {}
  }
}

extension ExplainedError {
  /// Whether a later attempt may succeed.
  fileprivate var mayPass: Bool {
    switch category {
    case .badData, .unavailable, .tryLater, .failed, .interrupted: true
    case .usage, .notAllowed, .schema, .internal: false
    }
  }
}

/// What became of one request for a feed.
struct FeedAnswer: Sendable {
  /// The counts of its import; nil: the feed is the one with the validators.
  var report: ImportReport?
  var validators: FeedValidators?
}

/// One import of a feed over a connection, on the thread of the caller.
struct FeedSession {
  private let feed: FeedReference
  private let client: FeedClient
  private let interrupt: () -> Bool

  /// A day: the longest time of an import, from the request to the end of the body.
  private static let longestMilliseconds = 86_400_000

  /// - Parameter program: The program's name, which the servers see.
  init(_ feed: FeedReference, program: String, _ cancellation: ImportCancellation) {
    self.feed = feed
    interrupt = { cancellation.isCancelled }
    var options = FeedClient.Options(userAgent: "quake (\(program))", interrupt: interrupt)
    options.maximumBodyBytes = FeedReader.longestFetched
    options.totalTimeoutMilliseconds = Self.longestMilliseconds
    client = FeedClient(options: options)
  }

  func run(
    over connection: Connection, _ options: ImportOptions, after validators: FeedValidators?,
    progress: (Int64) -> Void
  ) throws -> FeedAnswer {
    let opened = try open(after: validators)
    if opened.response?.isNotModified == true {
      return FeedAnswer(report: nil, validators: validators)
    }
    var source = opened.source
    var described = options
    described.describe(opened.response)
    let reopen: Importer.Reopen<FeedImportSource> = { _, source, again in
      let opened = try open(after: nil)
      source = opened.source
      again = options
      again.describe(opened.response)
    }
    let report = try Importer(connection: connection, options: described)
      .run(
        from: &source, reopen: feed.canBeReadAgain ? reopen : nil, shouldStop: interrupt,
        progress: progress)
    return FeedAnswer(report: report, validators: opened.response?.validators)
  }

  private func open(
    after validators: FeedValidators?
  ) throws(FeedError) -> (source: FeedImportSource, response: FeedResponse?) {
    var options = FeedReader.Options()
    var response: FeedResponse?
    let body: any ByteSource
    switch feed.location {
    case .file(let path): body = try FileSource(path: path, interrupt: interrupt)
    case .standardInput: body = FileDescriptorSource.standardInput(interrupt: interrupt)
    case .url(let url):
      options.service = DataCentre(url: url.text)
      options.maximumBytes = FeedReader.longestFetched
      let answer = try client.open(url: url, validators: validators)
      guard !answer.isEmpty, !answer.isNotModified else { return (FeedImportSource(nil), answer) }
      response = answer
      body = answer.body
    }
    let reader = try FeedReader(source: body, name: feed.description, options: options)
    return (FeedImportSource(reader), response)
  }
}

/// The elements of a sequence as the source of an import.
struct SequenceSource: ImportSource {
  /// Returns the next element; nil at the end.
  typealias Next = () throws -> Result<EventRecord, ImportReject>?

  let columns: [EventColumn]
  let format = "records"
  let generated: Timestamp?
  let mayTellGenerated = false
  let bytesRead: Int64 = 0
  private let takeNext: Next
  private var number = 0

  init(columns: [EventColumn], generated: Timestamp?, _ next: @escaping Next) {
    self.columns = columns
    self.generated = generated
    takeNext = next
  }

  mutating func next(into record: inout EventRecord) throws -> ImportItem? {
    guard let element = try takeNext() else { return nil }
    number += 1
    switch element {
    case .failure(let reject): return .reject(reject.shortened)
    case .success(var next):
      guard let reason = RecordCheck.normalise(&next) else {
        record = next
        // The table has no event without a source.
        if !record.has(.source), !record.isDeletion { record.source = "local" }
        return .record
      }
      return .reject(
        ImportReject(
          place: "record \(number)", reason: reason.text, raw: next.title ?? next.place ?? "",
          code: next.code, isOfTime: reason.isOfTime
        ).shortened)
    }
  }
}

extension ImportReject {
  /// The reject with texts that are not longer than those of feeds: one that is larger than all that an import may keep
  /// would leave no reason.
  fileprivate var shortened: ImportReject {
    ImportReject(
      place: Self.beginning(of: place), reason: Self.beginning(of: reason),
      raw: Self.beginning(of: raw), code: code, isOfTime: isOfTime)
  }

  private static func beginning(of text: String) -> String {
    let most = FeedReject.maximumRawBytes
    guard text.utf8.count > most else { return text }
    let end = text.utf8.index(text.startIndex, offsetBy: most)
    return String(text.unicodeScalars[..<end])
  }
}

/// Tells a thread that imports that its task was cancelled.
final class ImportCancellation: Sendable {
  private let flag = Atomic(false)

  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  func cancel() { flag.store(true, ordering: .relaxed) }
}
