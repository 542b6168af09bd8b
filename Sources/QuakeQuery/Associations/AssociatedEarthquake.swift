package import Postgres
internal import QuakeHistory
package import QuakeModel

/// An earthquake that has events of several sources.
package struct AssociatedEarthquake: Sendable {
  package struct Solution: Sendable {
    package let code: String
    package let source: String
    package let time: Timestamp
    package let magnitude: Double?
    package let magnitudeType: String?
    package let place: String?
    /// The time after the origin time of the preferred event, seconds.
    package let seconds: Double
    /// The distance from the epicentre of the preferred event, kilometres.
    package let kilometres: Double
    /// The magnitude minus that of the preferred event.
    package let magnitudes: Double?
    /// Whether a person has joined it with another event.
    package let isByHand: Bool
  }

  /// The event that lists show.
  package let preferred: Solution
  /// The others, in the order of their sources.
  package let others: [Solution]

  /// All earthquakes that have several events, the latest first.
  package static func list(over connection: Connection) throws -> [AssociatedEarthquake] {
    try read(statement(where: "true"), over: connection)
  }

  /// The earthquake that an event belongs to, whichever of its events that is; nil: the event has no
  /// association.
  package static func find(
    _ code: String, over connection: Connection
  ) throws -> AssociatedEarthquake? {
    try read(
      statement(
        where: """
          a.preferred = (select o.preferred from quake.association o where o.code = \(code))
          """), over: connection
    ).first
  }

  private static func statement(where condition: SQL) -> SQL {
    """
    with decision as materialized (\(sql: AssociationStatements.decisions))
    select a.preferred, q.code, q.source, q.time, q.magnitude, q.magnitude_type, q.place,
           extract(epoch from q.time - p.time)::double precision as seconds,
           quake.distance(p.latitude, p.longitude, q.latitude, q.longitude) as kilometres,
           q.magnitude - p.magnitude as magnitudes,
           exists (select from decision n
                    where n.together and (n.code = q.code or n.other = q.code)) as by_hand
      from quake.association a
      join quake.quake q on q.code = a.code
      join quake.quake p on p.code = a.preferred
     where \(sql: condition)
     order by p.time desc, a.preferred, a.code <> a.preferred, q.source, q.code
    """
  }

  private static func read(
    _ statement: SQL, over connection: Connection
  ) throws -> [AssociatedEarthquake] {
    var list: [AssociatedEarthquake] = []
    var solutions: [Solution] = []
    var preferred: String?
    func finish() {
      if let first = solutions.first, solutions.count > 1 {
        list.append(AssociatedEarthquake(preferred: first, others: Array(solutions.dropFirst())))
      }
      solutions = []
    }
    let rows = try connection.rows(statement, format: .binary) { row throws(PostgresError) in
      let preferred: String = try row["preferred"]
      let solution = Solution(
        code: try row["code"], source: try row["source"] ?? "", time: try row["time"],
        magnitude: try row["magnitude"], magnitudeType: try row["magnitude_type"],
        place: try row["place"], seconds: try row["seconds"] ?? 0,
        kilometres: try row["kilometres"] ?? 0, magnitudes: try row["magnitudes"],
        isByHand: try row["by_hand"])
      return (preferred: preferred, solution: solution)
    }
    for row in rows {
      if row.preferred != preferred { finish() }
      preferred = row.preferred
      solutions.append(row.solution)
    }
    finish()
    return list
  }
}
