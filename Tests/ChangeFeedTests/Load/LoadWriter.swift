import Basics
import Glibc
import Postgres
import Synchronization
import TestSupport

/// One of the writers: transactions of random sizes with savepoints and rollbacks, on events of its own
/// and on some that all share, over a connection that may be taken away at any moment.
final class LoadWriter {
  /// How a writer works.
  struct Settings: Sendable {
    var name: String
    var isolation = "read committed"
    /// The most events that one statement inserts.
    var largestBatch: Int64 = 60
    var truncates = false
    /// Every `every`th transaction waits before its commit until other writers have committed `after`
    /// transactions since it began.
    var lateCommit: (every: Int, after: Int)?
    /// Keeps to events of its own: a transaction that stays open would keep others from the shared
    /// ones.
    var isSolitary = false
    /// Switches off waiting for the flush, which the store must switch on again.
    var isCareless = false
  }

  private let settings: Settings
  private let conninfo: String
  private let log: WriterLog
  private let shouldStop: @Sendable () -> Bool
  private let isHeldBack: @Sendable () -> Bool
  private var random: SeededGenerator
  private var connection: Connection?
  private var transactions = 0
  private var highest: Int64 = 0

  init(
    _ settings: Settings, _ conninfo: String, log: WriterLog, random: SeededGenerator,
    until shouldStop: @escaping @Sendable () -> Bool,
    pauseWhile isHeldBack: @escaping @Sendable () -> Bool
  ) {
    self.settings = settings
    self.conninfo = conninfo
    self.log = log
    self.random = random
    self.shouldStop = shouldStop
    self.isHeldBack = isHeldBack
  }

  /// Writes until it is told to stop.
  func run() throws {
    while !shouldStop() {
      guard !isHeldBack(), let connection = connect() else {
        poll(nil, 0, 20)
        continue
      }
      transactions += 1
      let name = "\(settings.name)/\(transactions)"
      do {
        try runTransaction(connection, name)
      } catch let error as PostgresError {
        guard Self.isExpected(error) else { throw error }
        if error.isConnectionLoss || error.sqlState.hasPrefix("57P") {
          self.connection = nil
        } else {
          do { try connection.execute("rollback") } catch { self.connection = nil }
        }
      }
    }
  }

  /// Serialization failures, deadlocks, lock timeouts, and servers that go away.
  private static func isExpected(_ error: PostgresError) -> Bool {
    error.isConnectionLoss || error.sqlState.hasPrefix("57P")
      || ["40001", "40P01", "55P03", "23505"].contains(error.sqlState)
  }

  private func connect() -> Connection? {
    if let connection { return connection }
    connection = try? Connection(
      ConnectionSettings(conninfo, applicationName: "load \(settings.name)"))
    if settings.isCareless { _ = try? connection?.run("set synchronous_commit = off") }
    return connection
  }

  private func runTransaction(_ connection: Connection, _ name: String) throws {
    var changes = 0
    do {
      try connection.run("begin isolation level \(settings.isolation)")
      try connection.execute(
        """
        select set_config('quake.context', $1, true), set_config('quake.author', $2, true),
               set_config('lock_timeout', '1s', true)
        """, [.text(name), .text(settings.name)])
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        changes += try step(connection)
      }
      if let late = settings.lateCommit, transactions.isMultiple(of: late.every) {
        waitForOthers(late.after)
      }
    } catch {
      log.note(name, .rolledBack, changes: nil)
      throw error
    }
    if Int.random(in: 0..<12, using: &random) == 0 {
      log.note(name, .rolledBack, changes: nil)
      try connection.execute("rollback")
      return
    }
    do throws(PostgresError) {
      try connection.execute("commit")
    } catch {
      log.note(name, error.isConnectionLoss ? .unknown : .commitFailed, changes: nil)
      throw error
    }
    log.note(name, .committed, changes: changes)
  }

  private func waitForOthers(_ count: Int) {
    let wanted = log.count(.committed) + count
    let deadline = Deadline(after: ToolProcess.patience)
    // A transaction that stays open would hold back the slots of regions.
    while log.count(.committed) < wanted, !shouldStop(), !isHeldBack(), !deadline.hasPassed {
      poll(nil, 0, 5)
    }
  }

  /// Some statements, perhaps within a savepoint, perhaps rolled back to it.
  private func step(_ connection: Connection) throws -> Int {
    guard Int.random(in: 0..<5, using: &random) == 0 else { return try statement(connection) }
    try connection.execute("savepoint s")
    let inside = try statement(connection) + statement(connection)
    if Bool.random(using: &random) {
      try connection.execute("rollback to savepoint s")
      return 0
    }
    try connection.execute("release savepoint s")
    return inside
  }

  /// One statement; how many changes it made.
  private func statement(_ connection: Connection) throws -> Int {
    let own = "\(settings.name)-"
    let size = Int64.random(in: 1...settings.largestBatch, using: &random)
    let start = Int64.random(in: 0...max(0, highest - size), using: &random)
    switch Int.random(in: 0..<(settings.isSolitary ? 82 : 100), using: &random) {
    case 0..<30:
      defer { highest += size }
      return try execute(connection, LoadStatements.upsert, own, highest, highest + size - 1)
    case 30..<55: return try execute(connection, LoadStatements.update, own, start, start + size)
    case 55..<65:
      return try execute(connection, LoadStatements.updatePlace, own, start, start + size)
    case 65..<70:
      _ = try execute(connection, LoadStatements.touch, own, start, start + size)
      return 0
    case 70..<82:
      return try execute(connection, LoadStatements.delete, own, start, start + size / 2)
    case 82..<84 where settings.truncates && transactions.isMultiple(of: 5):
      try connection.execute("truncate quake.quake")
      return 1
    default:
      let shared = Int64.random(in: 0..<40, using: &random)
      let statement =
        Bool.random(using: &random) ? LoadStatements.upsert : LoadStatements.update
      return try execute(connection, statement, "shared-", shared, shared + size % 3)
    }
  }

  private func execute(
    _ connection: Connection, _ statement: String, _ prefix: String, _ from: Int64, _ to: Int64
  ) throws -> Int {
    try connection.execute(
      SQL(trusted: statement), [.text(prefix), .integer(from), .integer(to)]
    ).affectedRows
  }
}

/// The statements of the load: many events at once, all columns filled.
enum LoadStatements {
  /// `$1`: prefix of the codes; `$2`, `$3`: from and to. An event that is there gets another value.
  static let upsert =
    insertInto + """
       on conflict (code) do update set felt = coalesce(quake.felt, 0) + 1, updated = excluded.updated,
         magnitude = ((coalesce(quake.felt, 0) * 7) % 80) / 10.0
      """

  private static let insertInto = """
    insert into quake.quake (code, net, net_code, source, type, status, magnitude, magnitude_type, place,
      time, updated, longitude, latitude, depth, title, url, detail, felt, tsunami, sig, nst, dmin, rms,
      gap, ids, sources, types)
    select $1::text || n, 'us', n::text, 'usgs', 'earthquake', 'reviewed', (n * 37 % 90) / 10.0, 'ml',
           n || ' km "N" of Nowhere, \u{7D},"new":{', '2024-01-01Z'::timestamptz + n * interval '1.001 seconds',
           clock_timestamp(), (n * 7 % 3600) / 10.0 - 180, (n * 11 % 1800) / 10.0 - 90, n % 700,
           'M ' || n || ' - Nowhere', 'https://example.org/earthquakes/eventpage/' || n,
           'https://example.org/earthquakes/feed/v1.0/detail/' || n || '.geojson', 0, 0, n % 1000,
           n % 100, n / 3.0, n / 7.0, n % 360, ',' || $1::text || n || ',', ',us,',
           ',origin,phase-data,'
      from generate_series($2::bigint, $3::bigint) n
    """

  /// `$1`: prefix of the codes; `$2`, `$3`: from and to.
  static let update = """
    update quake.quake q
       set felt = coalesce(felt, 0) + 1, magnitude = ((coalesce(felt, 0) * 13 + n) % 90) / 10.0,
           updated = clock_timestamp(), longitude = -longitude
      from generate_series($2::bigint, $3::bigint) n
     where q.code = $1::text || n
    """

  /// `$1`: prefix of the codes; `$2`, `$3`: from and to.
  static let updatePlace = """
    update quake.quake q set place = 'revised ' || coalesce(felt, 0) || ' ' || clock_timestamp()
      from generate_series($2::bigint, $3::bigint) n
     where q.code = $1::text || n
    """

  /// `$1`: prefix of the codes; `$2`, `$3`: from and to. Changes nothing.
  static let touch = """
    update quake.quake q set magnitude = magnitude
      from generate_series($2::bigint, $3::bigint) n
     where q.code = $1::text || n
    """

  /// `$1`: prefix of the codes; `$2`, `$3`: from and to.
  static let delete = """
    delete from quake.quake q using generate_series($2::bigint, $3::bigint) n
     where q.code = $1::text || n
    """
}
