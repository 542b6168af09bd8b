package import Postgres
internal import QuakeHistory
package import QuakeModel

/// The part of an earlier state of the list that a query needs: `quake.as_of` finds it in a long history without
/// reading all of it.
struct PastEvents {
  private let point: ChangeToken
  /// The origin times from which on, and before which, it has events.
  private var earliest, end: Timestamp?
  private let cells: SQL
  /// Selects the codes of the only events that it needs; nil: those of any code.
  private let codes: SQL?

  /// The greatest number of events of a page that is looked for window by window.
  private static let mostEvents: Int64 = 100_000

  /// - Parameters:
  ///   - point: The token of the state.
  ///   - filter: The filter whose events are wanted.
  ///   - cells: Lists of the cells of the map in which they are, each null or complete.
  ///   - codes: A query of the codes that they have, if they are named.
  init(at point: ChangeToken, _ filter: EventFilter, in cells: [SQL], codes: SQL?) {
    self.point = point
    self.codes = codes
    (earliest, end) = (filter.earliestTime, filter.endTime)
    self.cells = cells.isEmpty ? "null" : "coalesce(\(sql: cells.joined(separator: ", ")))"
  }

  var source: SQL {
    if let codes { return Self.events(withCodes: codes, at: point) }
    return """
      quake.as_of(\(point), \(earliest)::timestamptz, \(end)::timestamptz, (\(sql: cells))::integer[])
      """
  }

  /// The events of some codes: of each, the index on codes finds the newest version up to the token. A token that is
  /// not valid is an error before anything is read.
  private static func events(withCodes codes: SQL, at point: ChangeToken) -> SQL {
    let token: SQL = "select t.token from quake.change_transaction t where t.transaction_id ="
    return """
      (select \(sql: EventColumn.list(of: "n" as SQL))
         from (\(sql: codes)) c (code)
        cross join lateral (
          select * from quake.quake_version v
           where v.code = c.code and (\(sql: token) v.transaction_id) <= \(point.number)
           order by v.id desc limit 1) n
        where (select quake.token_number(\(point))) is not null and n.op <> 'delete'
          and n.id > coalesce((select max(e.id) from quake.quake_version e
                                where e.op = 'truncate' and (\(sql: token) e.transaction_id) <= \(point.number)), 0))
      """
  }

  /// Omits events that are older than those of a page of the newest events.
  ///
  /// Each window begins where about four times as many events as in the one before are.
  ///
  /// - Parameters:
  ///   - query: A query in any order; only one with a limit whose first order is the newest first is narrowed.
  ///   - conditions: The conditions on events, alias `q`, also that they come after the query's cursor.
  mutating func narrow(
    toPageOf query: EventQuery, where conditions: [SQL], over connection: Connection
  ) throws {
    guard codes == nil, query.order.first == .newestFirst, let limit = query.limit,
      limit < Self.mostEvents,
      query.offset < Self.mostEvents
    else { return }
    if case .timestamp(let last)? = query.after?.values.first, last < .latest {
      let next = Timestamp(microseconds: last.microseconds + 1)
      end = min(next, end ?? next)
    }
    var wanted = limit + 1 + query.offset
    var size = wanted
    var window = self
    while true {
      let start = try connection.row(
        "select quake.as_of__window(\(point), \(window.end)::timestamptz, \(size))",
        as: Timestamp?.self)
      guard let start, earliest.map({ start > $0 }) ?? true else { return }
      window.earliest = start
      wanted -= try connection.row(
        """
        select count(*) from (
          select from \(sql: window.source) q where \(sql: HistoryConditions.all(conditions)) limit \(wanted)) f
        """, as: Int64.self)
      guard wanted > 0 else {
        earliest = start
        return
      }
      window.end = start
      size *= 4
    }
  }
}

/// Counts how often events have been written, in the snapshot of another connection's transaction.
///
/// A query that is read as a stream keeps its connection busy, so a second connection counts.
package struct EventRevisions {
  private let connection: Connection
  private let token: ChangeToken?

  /// - Parameters:
  ///   - other: A connection with an open REPEATABLE READ transaction.
  ///   - connection: A connection of this object's own.
  ///   - token: Only changes up to this transaction count; nil: all.
  package init(
    inSnapshotOf other: Connection, over connection: Connection, upTo token: ChangeToken? = nil
  ) throws {
    let snapshot = try other.row("select pg_catalog.pg_export_snapshot()", as: String.self)
    // The statement takes no parameter.
    guard snapshot.utf8.allSatisfy({ Self.isOfIdentifier($0) }) else {
      throw StoreError(.inconsistent, "the server sent a malformed snapshot identifier")
    }
    try connection.begin(.repeatableRead, readOnly: true)
    try connection.execute(SQL(trusted: "set transaction snapshot '\(snapshot)'"))
    // Before the history's first analysis, a plan for the codes at hand would read all of it.
    try connection.execute("set local plan_cache_mode = force_generic_plan")
    self.connection = connection
    self.token = token
  }

  private static func isOfIdentifier(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || byte == UInt8(ascii: "-")
  }

  /// The number of changes of each event that the history holds, except deletes, by the bytes of its code: two codes
  /// may look alike. Events without any are missing.
  package func count(of codes: [String]) throws -> [[UInt8]: Int64] {
    let last: SQL = "\(token?.number)::bigint"
    let counts = try connection.rows(
      """
      select v.code, pg_catalog.count(*)
        from quake.quake_version v
       where v.code = any(\(codes)::text[]) and v.op <> 'delete'
         and (\(sql: last) is null
              or exists (select from quake.change_transaction t
                          where t.transaction_id = v.transaction_id and t.token <= \(sql: last)))
       group by v.code
      """, prepared: true, as: (String, Int64).self)
    return Dictionary(uniqueKeysWithValues: counts.map { (Array($0.utf8), $1) })
  }
}
