internal import CLibpq
internal import Synchronization

/// The newest timeline of each system of servers that a program was connected to, so that it does not go back to the
/// primary from before a failover.
///
/// A standby that is promoted begins a new timeline. A primary that runs on and was not fenced stays on the one before,
/// and accepts writes that are lost when it is rewound. All connections of a program share one object.
package final class SeenTimelines: Sendable {
  private struct State {
    /// The newest timeline by the identifier of the system.
    var newest: [Int64: Int64] = [:]
    var reported: Set<String> = []
  }

  private let state = Mutex(State())
  private let report: @Sendable (PostgresError) -> Void

  /// Nothing has been seen yet.
  ///
  /// - Parameter report: Gets the refusal of a server, once for each newest timeline.
  package init(report: @escaping @Sendable (PostgresError) -> Void) {
    self.report = report
  }

  /// Notes the timeline of a primary.
  ///
  /// - Returns: Why the connection is not to be used; nil if it may be, or if nothing is known about the server.
  func refusal(of connection: Connection) throws(PostgresError) -> PostgresError? {
    guard let (system, timeline) = try Self.place(of: connection) else { return nil }
    let newest = state.withLock { state in
      let newest = max(timeline, state.newest[system] ?? 0)
      state.newest[system] = newest
      return newest
    }
    guard timeline < newest else { return nil }
    let error = PostgresError(
      kind: .connection, message: "\(connection.label) is the primary from before a failover",
      detail: """
        It is on timeline \(timeline), and this program was connected to timeline \(newest) of the same system. What \
        is written there is lost.
        """,
      hint: "Stop that server, and make it a standby of the new primary with pg_rewind.")
    let isNew = state.withLock { $0.reported.insert("\(connection.label) \(newest)").inserted }
    if isNew { report(error) }
    return error
  }

  /// The identifier of the system and the timeline of a primary. Nil for a standby, which says later which one it
  /// follows, and which readers compare by the history; and if the server does not let everyone ask.
  private static func place(
    of connection: Connection
  ) throws(PostgresError) -> (system: Int64, timeline: Int64)? {
    do throws(PostgresError) {
      let (system, timeline) = try connection.row(
        """
        select s.system_identifier, case when not pg_is_in_recovery() then
               ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint end
          from pg_control_system() s
        """, as: (Int64, Int64?).self)
      return timeline.map { (system, $0) }
    } catch {
      guard error.kind == .server, !error.isTransient else { throw error }
      return nil
    }
  }
}

extension Connection {
  /// The hosts of the settings without the one that this connection leads to, as `ConnectionSettings.address`; empty if
  /// there are no others.
  var otherHosts: [(keyword: String, value: String)] {
    func list(_ keyword: String) -> [String] {
      (Connecting.option(keyword, of: connection) ?? "").split(
        separator: ",", omittingEmptySubsequences: false
      ).map(String.init)
    }
    let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
    let count = max(hosts.count, addresses.count)
    let host = PQhost(connection).map { String(cString: $0) } ?? ""
    let port = PQport(connection).map { String(cString: $0) } ?? ""
    let others = (0..<count).map { index in
      (
        host: hosts.count == count ? hosts[index] : "",
        address: addresses.count == count ? addresses[index] : "",
        port: ports.count == count ? ports[index] : ports[0]
      )
    }.filter { other in
      let isSamePort = (other.port.isEmpty ? Self.usualPort : other.port) == port
      return !isSamePort || (other.host.isEmpty ? other.address : other.host) != host
    }
    guard !others.isEmpty else { return [] }
    return [
      ("host", others.map(\.host).joined(separator: ",")),
      ("hostaddr", others.map(\.address).joined(separator: ",")),
      ("port", others.map(\.port).joined(separator: ",")),
    ]
  }

  /// The port that libpq takes for an empty one.
  static let usualPort = "5432"
}
