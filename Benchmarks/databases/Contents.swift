import Glibc
import Postgres
import QuakeFeed
import QuakeModel

/// The figures of a file's events that can be compared between contenders with different tables.
struct Contents: Equatable {
  /// The number of events.
  var events = 0
  /// The number of events with a magnitude.
  var magnitudes = 0
  /// The sum of their origin times, in milliseconds since `epoch`.
  var times = 0
  /// The sum of the times they were updated, in milliseconds since `epoch`.
  var updates = 0

  /// July 2017 in milliseconds since 1970. It is amid the events, so that the sums stay small.
  static let epoch = 1_500_000_000_000

  init() {}

  /// The figures of a file.
  init(file: String) throws {
    let reader = try FeedReader(source: FileSource(path: file), name: file)
    var record = QuakeRecord()
    while let item = try reader.next(into: &record) {
      guard item == .record else { throw BenchFailure("file \"\(file)\" has a bad record") }
      events += 1
      if record.has(.magnitude) { magnitudes += 1 }
      times += Self.milliseconds(record.timestamp(.time))
      updates += Self.milliseconds(record.timestamp(.updated))
    }
  }

  /// The figures of a database, from a contender's statement.
  init(_ statement: SQL, over connection: Connection) throws {
    let row = try connection.execute(statement)
    func value(_ column: Int) -> Int { Int(row.integer(0, column) ?? 0) }
    events = value(0)
    magnitudes = value(1)
    times = value(2)
    updates = value(3)
  }

  private static func milliseconds(_ time: Timestamp?) -> Int {
    time.map { Int($0.microseconds / 1000) - epoch } ?? 0
  }

  /// The statement for a table with the columns of `quake.quake`.
  static func statement(table: String) -> SQL {
    statement(
      table: table, magnitude: "magnitude", time: "extract(epoch from time) * 1000",
      updated: "extract(epoch from updated) * 1000")
  }

  /// The statement for any table; `time` and `updated` are milliseconds since 1970.
  static func statement(table: String, magnitude: String, time: String, updated: String) -> SQL {
    SQL(
      trusted: """
        select count(*), count(\(magnitude)),
               coalesce(sum((\(time))::bigint - \(epoch)), 0)::bigint,
               coalesce(sum((\(updated))::bigint - \(epoch)), 0)::bigint
          from \(table)
        """)
  }
}

extension Contents: CustomStringConvertible {
  var description: String {
    "\(events) events, \(magnitudes) magnitudes, times \(times), updates \(updates)"
  }
}
