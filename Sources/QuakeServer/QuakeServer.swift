internal import Glibc

/// The HTTP server over one database: documents, streams of changes, and the services of this field.
///
/// It runs on threads of its own from `init` until `stop`.
public final class QuakeServer: Sendable {
  /// Where the server listens, with its port.
  public let address: ListenAddress
  private let parts: ServerParts
  private let http: MicrohttpdServer

  /// Begins to listen and to answer.
  ///
  /// - Parameters:
  ///   - onAccess: Called for each request that has ended, on a thread of the server.
  ///   - onFailure: Called with what failed and why, if the client is told less.
  ///   - onNotice: Called with a sentence when the streams lose the database, and when they have it again.
  /// - Throws: `ListenError` if the address cannot be used; errors of starting threads and the HTTP library. The
  ///   threads that were started end then. The database is not needed yet.
  public init(
    _ settings: Settings, onAccess: @escaping @Sendable (AccessRecord) -> Void,
    onFailure: @escaping @Sendable (_ target: String, _ error: any Error) -> Void,
    onNotice: @escaping @Sendable (_ sentence: String) -> Void
  ) throws {
    parts = try ServerParts(settings, onNotice: onNotice)
    let observer = Self.observer(parts.metrics, onAccess, onFailure)
    let service = try Self.service(settings, parts, observer)
    (http, address) = try Self.start(settings, parts, service)
  }

  private static func observer(
    _ metrics: RequestMetrics, _ onAccess: @escaping @Sendable (AccessRecord) -> Void,
    _ onFailure: @escaping @Sendable (String, any Error) -> Void
  ) -> RequestObserver {
    RequestObserver(
      onCompleted: { request in
        metrics.add(request)
        onAccess(AccessRecord(request))
      }, onFailed: { onFailure($0.target, $1) })
  }

  private static func service(
    _ settings: Settings, _ parts: ServerParts, _ observer: RequestObserver
  ) throws -> HTTPService {
    HTTPService(
      table: try RouteTable(settings, parts),
      settings: HTTPService.Settings(
        allowsOrigins: settings.allowsOrigins, trustedProxies: settings.trustedProxies,
        publicURL: settings.publicURL),
      limits: AddressLimits(
        AddressLimits.Settings(
          connections: settings.connectionsPerAddress, rate: settings.requestRate,
          includesLoopback: settings.limitsLoopback)),
      pool: parts.pool, tokens: settings.tokens, observer: observer,
      newestToken: parts.newestToken)
  }

  /// Listens, and starts the threads: those that use the database before those that take clients.
  private static func start(
    _ settings: Settings, _ parts: ServerParts, _ service: HTTPService
  ) throws -> (MicrohttpdServer, ListenAddress) {
    // First, because the address is what fails most often, and nothing runs yet.
    let (listening, address) = try settings.listen.listen()
    // libmicrohttpd may have closed the socket when it could not start. Nothing closes it twice, because its
    // number may be that of another file then.
    var isHandedOver = false
    do {
      try parts.start()
      isHandedOver = true
      let http = try MicrohttpdServer(
        MicrohttpdServer.Settings(
          mostConnections: settings.mostConnections, requestTimeout: settings.requestTimeout),
        listening: listening, service: service, connections: parts.connections)
      return (http, address)
    } catch {
      if !isHandedOver { close(listening) }
      parts.stop()
      throw error
    }
  }

  /// Ends connections whose requests are late. Call it every few seconds.
  public func endLateConnections() { parts.connections.endLate() }

  /// Begins to stop: refuses new connections, ends the streams, and makes `/readyz` answer 503. Requests in
  /// progress are still answered. Blocks until the streams have ended, which takes up to `limit` if clients do
  /// not read.
  public func beginDrain(within limit: Duration) {
    parts.drain.begin()
    http.stopListening()
    parts.streams.stop(within: limit)
  }

  /// How many requests are being answered.
  public var requestsInProgress: Int { parts.connections.busy }

  /// Closes the remaining connections, and returns when all threads of the HTTP library have ended.
  public func stop() {
    parts.pool.close()
    http.stop()
  }
}
