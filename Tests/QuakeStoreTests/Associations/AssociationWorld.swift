import Glibc
import Postgres
import QuakeModel
import QuakeQuery
import QuakeSchema
import TestSupport

/// A store with events of several sources.
struct AssociationWorld {
  /// One event of a source.
  struct Report {
    var code: String
    var source: String
    /// Seconds after 2026-01-01.
    var seconds: Double
    var latitude: Double
    var longitude: Double
    var magnitude: Double? = 4
    var depth = 10.0
    var status = "reviewed"

    /// The point `kilometres` away in a direction.
    func moved(_ kilometres: Double, towards bearing: Double) -> (Double, Double) {
      let angle = kilometres / 6371.0088
      let (latitude, longitude) = (latitude * .pi / 180, longitude * .pi / 180)
      let north = asin(sin(latitude) * cos(angle) + cos(latitude) * sin(angle) * cos(bearing))
      let east =
        longitude
        + atan2(
          sin(bearing) * sin(angle) * cos(latitude), cos(angle) - sin(latitude) * sin(north))
      return (north * 180 / .pi, remainder(east * 180 / .pi, 360))
    }
  }

  let database: TestDatabase
  let connection: Connection
  var associations: Associations { Associations(connection: connection, author: "tests") }

  init(enabled: Bool = true) throws {
    database = try TestDatabase()
    connection = try database.connect()
    if enabled { try enable() }
  }

  func enable() throws {
    try AssociationTriggers.enable(over: connection)
    try associations.noteAll()
    try associations.update()
  }

  func disable() throws {
    try associations.dissolveAll()
    try AssociationTriggers.disable(over: connection)
  }

  /// Stores reports, or revises them.
  func store(_ reports: [Report]) throws {
    for report in reports {
      try connection.execute(
        """
        insert into quake.quake (code, source, time, latitude, longitude, magnitude, depth, status, place)
        values ($1, $2, timestamptz '2026-01-01 00:00:00+00' + make_interval(secs => $3::float8), $4, $5, $6,
                $7, $8, 'somewhere')
        on conflict (code) do update
           set time = excluded.time, latitude = excluded.latitude, longitude = excluded.longitude,
               magnitude = excluded.magnitude, depth = excluded.depth, status = excluded.status
        """,
        [
          .text(report.code), .text(report.source), .double(report.seconds),
          .double(report.latitude), .double(report.longitude), report.magnitude.sqlParameter,
          report.depth.sqlParameter, .text(report.status),
        ])
    }
  }

  /// The events of each association, the preferred one first: `usgs1 emsc1`.
  func earthquakes() throws -> [String] {
    try connection.table(
      """
      select a.preferred || ' ' || string_agg(a.code, ' ' order by a.code collate "C")
               filter (where a.code <> a.preferred)
        from quake.association a group by a.preferred order by a.preferred collate "C"
      """)
  }

  /// The events that lists show.
  func shown() throws -> [String] {
    try connection.table("select code from quake.current_quake order by code collate \"C\"")
  }

  /// What every association must be, whatever happened before.
  func faults() throws -> [String] {
    try connection.table(
      """
      select 'not superseded: ' || a.code from quake.association a
        left join quake.quake q on q.code = a.code
       where q.superseded_by is distinct from nullif(a.preferred, a.code)
       union all
      select 'alone: ' || min(a.code) from quake.association a group by a.preferred having count(*) < 2
       union all
      select 'two of a source: ' || min(a.code) from quake.association a join quake.quake q on q.code = a.code
       group by a.preferred, q.source having count(*) > 1
       union all
      select 'not listed: ' || q.code from quake.quake q
       where q.superseded_by is not null
         and not exists (select from quake.association a where a.code = q.code)
         and not exists (select from quake.quake_alias l where l.id = q.code)
      """)
  }
}
