import Postgres
import QuakeHistory
import QuakeImport
import QuakeModel
import QuakeQuery
import TestSupport

/// A store with events of a feed, and edits of them.
struct EditScene {
  let database: TestDatabase
  let connection: Connection
  let author = EditAuthor(program: "tests 1", author: "ann", context: "tidy")

  init() throws {
    database = try TestDatabase()
    connection = try database.connect()
  }

  /// The way that an import takes.
  enum Way: CaseIterable, Sendable {
    /// Staged whole and merged.
    case snapshot
    /// In batches, in one transaction.
    case catalogue
    /// In batches with commits.
    case batches
  }

  @discardableResult
  func load(
    _ records: [EventRecord], generated: String = "2026-01-01T00:00:00Z", _ way: Way = .snapshot,
    over other: Connection? = nil
  ) throws -> ImportReport {
    var source = FakeSource(records, generated: generated)
    source.mayTellGenerated = way == .snapshot
    return try (other ?? connection).load(
      source,
      reopen: way == .catalogue
        ? { _, source, _ in source = FakeSource(records, generated: generated) } : nil
    ) {
      $0.feed = "test"
      $0.author = "feed"
      $0.commitEvery = way == .batches ? 3 : nil
      if way == .snapshot { $0.limits = SnapshotLimits() }
    }
  }

  @discardableResult
  func edit(
    _ action: EditAction, codes: [String]? = nil, title: String? = nil, limit: Int64? = nil,
    stopAfter chunks: Int = .max
  ) throws -> EditOutcome {
    var selection = EventSelection()
    selection.filter.codes = codes.map { Set($0) }
    selection.limit = limit
    var done = 0
    return try BatchEdit(
      EventEdit(action, of: selection, by: author, title: title), over: connection
    ).run(
      shouldStop: {
        done += 1
        return done > chunks
      })
  }

  func restoring(
    _ source: EventRestore.Source, force: Bool = false, title: String? = nil
  ) -> BatchRestore {
    BatchRestore(
      EventRestore(source, isForced: force, by: author, title: title), over: connection)
  }

  /// Restores, and returns whether it found nothing in the way.
  @discardableResult
  func restore(_ source: EventRestore.Source, force: Bool = false) throws -> EditOutcome {
    try restoring(source, force: force).run()
  }

  func restore(codes: [String]) throws -> EditOutcome {
    var selection = EventSelection()
    selection.filter.codes = Set(codes)
    return try restore(.events(selection))
  }

  /// All events, with everything that is stored of them.
  func events() throws -> [String] {
    try connection.table("select q.* from quake.quake q order by q.code collate \"C\"")
  }

  func codes() throws -> [String] {
    try connection.table("select q.code from quake.quake q order by q.code collate \"C\"")
  }

  func tombstones() throws -> [String] {
    try connection.table(
      "select t.code, t.reason, t.author from quake.tombstone t order by t.code collate \"C\"")
  }

  /// Whether the newest state of the history is the table.
  func historyAgrees() throws -> Bool {
    try connection.ask(
      """
      select not exists (select from quake.quake q full join quake.as_of(quake.latest_token()) h using (code)
                          where (h is null) or (q is null)
                             or to_jsonb(q) is distinct from to_jsonb(h))
      """) == "t"
  }

  /// The token of the newest transaction.
  func latest() throws -> ChangeToken { try HistoryReader.latestToken(over: connection) }
}
