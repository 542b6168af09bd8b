internal import Basics
package import Postgres
internal import QuakeModel

package struct RejectStore {
  private let connection: Connection

  /// The number of rows that one statement deletes.
  private static let batchSize: Int64 = 1000

  package init(connection: Connection) {
    self.connection = connection
  }

  /// Deletes the rejects of imports that began longer than `age` ago, in batches that each take a fraction
  /// of a second; the rows of the imports stay, with their counts. Returns the number of rejects.
  ///
  /// - Parameter shouldStop: Asked after each batch. The next purge deletes the rest.
  package func purge(
    olderThan age: Duration, shouldStop: () -> Bool = { false }
  ) throws(PostgresError) -> Int64 {
    var deleted: Int64 = 0
    repeat {
      // The oldest import has the lowest number. If it is not old enough, no other is, and one index lookup
      // shows that.
      let count = try connection.row(
        """
        with oldest as materialized (
          select i.id from quake.import i
           where i.id = (select min(r.import_id) from quake.import_reject r)
             and i.started_at < clock_timestamp() - make_interval(secs => \(age.inSeconds))
        ), deleted as (
          delete from quake.import_reject r
           using (select o.import_id, o.record
                    from quake.import_reject o join oldest on oldest.id = o.import_id
                   order by o.record limit \(Self.batchSize)) d
           where r.import_id = d.import_id and r.record = d.record
          returning r.record
        )
        select count(*) from deleted
        """, prepared: true, as: Int64.self)
      guard count > 0 else { return deleted }
      deleted += count
    } while !shouldStop()
    return deleted
  }

  /// Stores the staged rejects, up to the limits of an import.
  static func store(
    _ report: inout ImportReport, over connection: Connection
  ) throws(PostgresError) {
    let (count, bytes) = try connection.row(
      """
      with kept as (
        insert into quake.import_reject (import_id, record, place, reason, raw)
        select \(report.id)::bigint, r.record, r.reject_place, r.reject_reason, r.reject_raw
          from (select s.*, row_number() over w as number,
                       sum(octet_length(s.reject_place) + octet_length(s.reject_reason)
                           + octet_length(s.reject_raw)) over w as bytes
                  from pg_temp.quake_staging s
                 where s.reject_reason is not null and s.reject_raw is not null
                window w as (order by s.record)) r
         where r.number <= \(RejectBudget.mostKept - report.rejectsKept)
           and r.bytes <= \(RejectBudget.mostBytes - report.rejectBytesKept)
        returning octet_length(place) + octet_length(reason) + octet_length(raw) as bytes
      )
      select count(*), coalesce(sum(bytes), 0) from kept
      """, as: (Int64, Int64).self)
    report.rejectsKept += count
    report.rejectBytesKept += bytes
  }
}

/// The limit on the rejects of one import that are kept in `quake.import_reject`, so that a bad feed does not
/// fill the database. `quake.import` counts all of them.
package struct RejectBudget: Sendable {
  package static let mostKept: Int64 = 1000
  /// The most bytes of all of them: places, reasons, and the text of the records.
  package static let mostBytes: Int64 = 4 << 20

  private var count: Int64
  private var bytes: Int64

  /// The budget that the kept rejects of a report leave.
  init(after report: ImportReport) {
    count = report.rejectsKept
    bytes = report.rejectBytesKept
  }

  /// Whether a reject may be kept; if so, it is counted.
  mutating func keeps(_ reject: ImportReject) -> Bool {
    let size = Int64(
      reject.place.utf8.count + reject.reason.utf8.count + reject.raw.utf8.count)
    guard count < Self.mostKept, bytes + size <= Self.mostBytes else { return false }
    count += 1
    bytes += size
    return true
  }

  /// Sets in a report how many are kept.
  func note(in report: inout ImportReport) {
    report.rejectsKept = count
    report.rejectBytesKept = bytes
  }
}
