public import Postgres
public import QuakeHistory
public import QuakeModel

/// The list of events, now or as of a point of the history: the most common `EventQuery`.
public enum EventList {
  /// Events that do not represent an earthquake now.
  public struct Past: OptionSet, Sendable {
    /// Those that are superseded by another row.
    public static let superseded = Past(rawValue: 1)
    /// Withdrawn events: the feeds that should hold them lack them.
    public static let withdrawn = Past(rawValue: 2)

    /// Those that are withdrawn, and those that were deleted and stay so; of an earlier point of the history
    /// only the former.
    public static let deleted = Past(rawValue: 4)

    /// The bits.
    public let rawValue: Int

    /// A set of the given bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }
  }

  /// Counts the events that `read` would return.
  ///
  /// - Throws: `StoreError` of kind `token` if the point is not in this history, or no longer.
  public static func count(
    asOf point: HistoryBound? = nil, filter: QuakeFilter = QuakeFilter(), with past: Past = [],
    over connection: Connection
  ) throws -> Int64 {
    try query(point, filter, past).count(over: connection)
  }

  /// Reads the list, newest origin time first. It is that of one moment: the server keeps its snapshot until
  /// `body` has had the last.
  ///
  /// - Parameters:
  ///   - point: The point of the history; nil: now.
  ///   - filter: Which events; only its conditions on events count.
  ///   - past: Which events to include that do not represent an earthquake now. Those whose code the filter
  ///     names are always included.
  ///   - limit: The greatest number of events, from 1; nil: all.
  ///   - body: Gets each event.
  /// - Throws: `StoreError` of kind `token` if the point is not in this history, or no longer.
  public static func read(
    asOf point: HistoryBound? = nil, filter: QuakeFilter = QuakeFilter(), with past: Past = [],
    limit: Int64? = nil, over connection: Connection, _ body: (QuakeRecord) throws -> Void
  ) throws {
    var query = query(point, filter, past)
    query.limit = limit
    try query.read(over: connection, body)
  }

  private static func query(
    _ point: HistoryBound?, _ filter: QuakeFilter, _ past: Past
  ) -> EventQuery {
    var query = EventQuery()
    query.asOf = point
    query.filter = filter
    query.past = past
    return query
  }
}
