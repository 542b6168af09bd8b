package import Postgres
package import QuakeModel

/// An earthquake that has events of several sources.
package struct AssociatedEarthquake: Sendable {
  /// One of its events.
  package struct Solution: Sendable {
    /// The event.
    package let code: String
    /// Its source.
    package let source: String
    /// Its origin time.
    package let time: Timestamp
    /// Its magnitude.
    package let magnitude: Double?
    /// The type of its magnitude.
    package let magnitudeType: String?
    /// Its place.
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
    try read(statement(where: "true"), [], over: connection)
  }

  /// The earthquake that an event belongs to, whichever of its events that is; nil: the event has no
  /// association.
  package static func find(
    _ code: String, over connection: Connection
  ) throws -> AssociatedEarthquake? {
    try read(
      statement(
        where: "a.preferred = (select o.preferred from quake.association o where o.code = $1)"),
      [.text(code)], over: connection
    ).first
  }

  private static func statement(where condition: StaticString) -> SQL {
    let (qLatitude, pLatitude) = (
      AssociationStatements.whole("q.latitude"), AssociationStatements.whole("p.latitude")
    )
    let (qLongitude, pLongitude) = (
      AssociationStatements.whole("q.longitude"), AssociationStatements.whole("p.longitude")
    )
    return SQL(
      trusted: """
        with decision as materialized (\(AssociationStatements.decisions))
        select a.preferred, q.code, q.source, q.time, q.magnitude, q.magnitude_type, q.place,
               extract(epoch from q.time - p.time)::double precision,
               2 * 6371.0088::double precision * asin(least(1::double precision, sqrt(
                 sin(radians(\(qLatitude) - \(pLatitude)) / 2) ^ 2
                 + cos(radians(\(pLatitude))) * cos(radians(\(qLatitude)))
                   * sin(radians(\(qLongitude) - \(pLongitude)) / 2) ^ 2))),
               q.magnitude - p.magnitude,
               exists (select from decision n
                        where n.together and (n.code = q.code or n.other = q.code))
          from quake.association a
          join quake.quake q on q.code = a.code
          join quake.quake p on p.code = a.preferred
         where \(condition)
         order by p.time desc, a.preferred, a.code <> a.preferred, q.source, q.code
        """)
  }

  private static func read(
    _ statement: SQL, _ parameters: [Parameter], over connection: Connection
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
    let rows = try connection.execute(statement, parameters, format: .binary)
    for row in 0..<rows.rowCount {
      if rows.text(row, 0) != preferred { finish() }
      preferred = rows.text(row, 0)
      solutions.append(
        Solution(
          code: rows.text(row, 1) ?? "", source: rows.text(row, 2) ?? "",
          time: Timestamp(microseconds: rows.binaryTimestamp(row, 3) ?? 0),
          magnitude: rows.binaryDouble(row, 4), magnitudeType: rows.text(row, 5),
          place: rows.text(row, 6), seconds: rows.binaryDouble(row, 7) ?? 0,
          kilometres: rows.binaryDouble(row, 8) ?? 0, magnitudes: rows.binaryDouble(row, 9),
          isByHand: rows.binaryBool(row, 10) ?? false))
    }
    finish()
    return list
  }
}
