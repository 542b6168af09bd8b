internal import Glibc
package import Postgres
package import QuakeModel
internal import QuakeTool

/// The HTTP server over one database: documents, streams of changes, and the services of this field.
///
/// It runs on threads of its own from `init` until `stop`.
package final class EventServer: Sendable {
  /// Where the server listens, with its port.
  package let address: ListenAddress
  /// Where it answers for its operator, if that is an address of its own.
  package let metricsAddress: ListenAddress?
  private let parts: ServerParts
  private let http: MicrohttpdServer
  private let metricsHTTP: MicrohttpdServer?

  /// Begins to listen and to answer.
  ///
  /// - Parameters:
  ///   - onAccess: Called for each request that has ended, on a thread of the server.
  ///   - onFailure: Called with what failed and why, if the client is told less.
  ///   - onNotice: Called with a message for the log, such as when the streams lose the database, and when they have it
  ///     again.
  /// - Throws: `ListenError` if the address cannot be used; errors of starting threads and the HTTP library. The
  ///   threads that were started end then. The database is not needed yet.
  package init(
    _ settings: Settings, onAccess: @escaping @Sendable (AccessRecord) -> Void,
    onFailure: @escaping @Sendable (_ target: String, _ error: any Error) -> Void,
    onNotice: @escaping @Sendable (ServerNotice) -> Void
  ) throws {
    parts = try ServerParts(settings, onNotice: onNotice)
    let observer = Self.observer(parts.metrics, onAccess, onFailure)
    let service = try Self.service(settings, parts, observer)
    // First, because the addresses are what fails most often, and nothing runs yet.
    let own = try settings.metricsListen?.listen()
    metricsAddress = own?.address
    do {
      (http, address) = try Self.start(settings, parts, service)
    } catch {
      if let own { close(own.descriptor) }
      throw error
    }
    guard let own else {
      metricsHTTP = nil
      return
    }
    do {
      metricsHTTP = try Self.startForOperator(settings, parts, observer, listening: own.descriptor)
    } catch {
      parts.stop()
      throw error
    }
  }

  /// Answers the server's operator, without the limits for strangers.
  private static func startForOperator(
    _ settings: Settings, _ parts: ServerParts, _ observer: RequestObserver, listening: Int32
  ) throws -> MicrohttpdServer {
    let service = HTTPService(
      table: RouteTable(
        HealthService(parts).routes
          + [APIService(version: settings.version, embedded: settings.embedded).statusRoute]),
      settings: HTTPService.Settings(
        allowsOrigins: false,
        hosts: settings.metricsListen.map { HostNames(listen: $0, publicURL: nil) },
        showsSessions: true),
      limits: AddressLimits(AddressLimits.Settings(connections: 0, rate: 0)), pool: parts.pool,
      observer: observer, newestToken: parts.newestToken)
    return try MicrohttpdServer(
      MicrohttpdServer.Settings(
        mostConnections: 100, requestTimeout: settings.requestTimeout, threads: 1),
      listening: listening, service: service, connections: parts.connections)
  }

  /// The routes that only the address for the operator has, if there is one.
  fileprivate static let operatorPaths = ["/metrics", "/v1/status"]

  private static func observer(
    _ metrics: RequestMetrics, _ onAccess: @escaping @Sendable (AccessRecord) -> Void,
    _ onFailure: @escaping @Sendable (String, any Error) -> Void
  ) -> RequestObserver {
    RequestObserver(
      completed: { request in
        metrics.add(request)
        onAccess(request)
      }, failed: { onFailure($0.target, $1) })
  }

  private static func service(
    _ settings: Settings, _ parts: ServerParts, _ observer: RequestObserver
  ) throws -> HTTPService {
    HTTPService(
      table: try RouteTable(settings, parts),
      settings: HTTPService.Settings(
        allowsOrigins: settings.allowsOrigins, trustedProxies: settings.trustedProxies,
        publicURL: settings.publicURL,
        hosts: HostNames(listen: settings.listen, publicURL: settings.publicURL)),
      limits: AddressLimits(settings.limits),
      pool: parts.pool, tokens: settings.tokens, auditTokens: settings.auditTokens,
      consumerTokens: settings.consumerTokens, observer: observer, newestToken: parts.newestToken,
      isDraining: parts.isDraining)
  }

  /// Listens, and starts the threads: those that use the database before those that take clients.
  private static func start(
    _ settings: Settings, _ parts: ServerParts, _ service: HTTPService
  ) throws -> (MicrohttpdServer, ListenAddress) {
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
  package func endLateConnections() { parts.connections.endLate() }

  /// Begins to stop: refuses new connections, makes `/readyz` answer 503, and ends the streams one after the other
  /// until `time` has passed. Requests are still answered, each as the last one of its connection.
  package func sendStreamsAway(over time: Duration) {
    parts.isDraining.set()
    http.stopListening()
    parts.streams.sendAway(over: time)
  }

  package var streamCount: Int { parts.streams.statistics.clients }

  /// Ends the streams that are left, and refuses new connections, if `sendStreamsAway` has not done so. Blocks until
  /// the streams have ended, which takes up to `limit` if clients do not read.
  package func beginDrain(within limit: Duration) {
    parts.isDraining.set()
    http.stopListening()
    parts.streams.stop(within: limit)
    parts.alerts.stop()
  }

  /// Why the server must end: the ledger of migrations does not let it go on. Nil if it may.
  package var refusal: StoreError? { parts.streams.state.refusal }

  package var requestsInProgress: Int { parts.connections.busy }

  /// Closes the remaining connections, and returns when all threads of the HTTP library have ended.
  package func stop() {
    parts.pool.close()
    parts.probe.stop()
    http.stop()
    metricsHTTP?.stop()
  }
}

extension EventServer {
  package struct Settings: Sendable {
    package var listen: ListenAddress
    /// Where to answer metrics and status instead; nil: where everything else is.
    package var metricsListen: ListenAddress?
    package var database: ConnectionSettings
    /// The version that documents state.
    package var version: String
    /// The most connections to the database for queries; 1 to 100.
    package var queryConnections = 4
    package var queryTimeout = Duration.seconds(30)
    package var mostConnections = 20_000
    package var limits = AddressLimits.Settings()
    /// How long a client may take to send a request; at least a second.
    package var requestTimeout = Duration.seconds(60)
    /// Whether pages of other sites may read.
    package var allowsOrigins = true
    /// The proxies whose `X-Forwarded-*` fields are believed: numeric addresses.
    package var trustedProxies: [String] = []
    /// The address that clients use, without a slash at its end; nil: the one that they send.
    package var publicURL: String?
    /// How the streams of changes run.
    var streams = StreamSettings()
    /// After how long without a change a stream gets a heartbeat.
    package var heartbeat: Duration {
      get { streams.heartbeat }
      set { streams.heartbeat = newValue }
    }
    /// A stream ends when it is between half as old and as old as this; nil: only with its client or the server.
    package var longestStreamAge: Duration? {
      get { streams.longestAge }
      set { streams.longestAge = newValue }
    }
    /// The tokens of the people who may edit.
    package var tokens = AccessTokens()
    /// The tokens of those who may see which sessions of the database made the changes.
    package var auditTokens = AccessTokens()
    /// The tokens of those who may have consumers.
    package var consumerTokens = AccessTokens()
    package var page = PageSettings()
    /// The folder of the embedded server, which the status names; nil if the database is not embedded.
    package var embedded: String?

    package init(listen: ListenAddress, database: ConnectionSettings, version: String) {
      self.listen = listen
      self.database = database
      self.version = version
    }
  }

  /// A request that has been answered, for the access log and the metrics.
  package struct AccessRecord: Sendable {
    /// The method, empty if it is not a known one.
    package let method: String
    /// The path and the query as they were sent: not safe to print.
    package let target: String
    package let client: String
    /// The HTTP status; 0: the client left before.
    package let status: Int
    /// The bytes of the body; nil: a stream.
    package let size: Int?
    /// From the first line of the request to the end of its answer.
    package let duration: Duration
    /// The client's program, as it names itself: not safe to print.
    package let userAgent: String?
    /// The path of the route; nil if there is none.
    let route: String?
  }
}

extension RouteTable {
  /// The routes of all services.
  convenience init(_ settings: EventServer.Settings, _ parts: ServerParts) throws {
    let isDraining = parts.isDraining
    let page = try PageService(
      settings.page, takesEdits: !settings.tokens.isEmpty, version: settings.version)
    let api = APIService(
      version: settings.version, embedded: settings.embedded, isStopping: { isDraining.isSet })
    let health = HealthService(parts)
    var routes =
      page.routes + api.routes + ChangeStreamService(parts.streams).routes
      + ConsumerService(parts.streams, parts.alerts).routes + LiveFeedService(parts.streams).routes
      + FDSNService().routes + FeedService().routes
      + health.routes
    if settings.metricsListen != nil {
      routes.removeAll { EventServer.operatorPaths.contains($0.path) }
    }
    let openAPI = OpenAPIService(routes, version: settings.version)
    self.init(routes + openAPI.routes + page.assetRoutes)
  }
}

/// The parts of a server that its services share.
struct ServerParts: Sendable {
  let pool: QueryPool
  let streams: ChangeStreams
  let alerts: AlertStreams
  let probe: ReadinessProbe
  let connections = OpenConnections()
  /// Whether the server has begun to stop.
  let isDraining = Flag()
  let metrics = RequestMetrics()
  let newestToken: NewestToken

  /// Makes the parts, and starts nothing.
  init(
    _ settings: EventServer.Settings, onNotice: @escaping @Sendable (ServerNotice) -> Void
  ) throws {
    pool = QueryPool(
      QueryPool.Settings(
        connection: settings.database, threads: settings.queryConnections,
        statementTimeout: settings.queryTimeout))
    probe = try ReadinessProbe(settings.database)
    let newestToken = NewestToken()
    let alerts = try AlertStreams(settings.database, settings.streams, report: onNotice)
    streams = try ChangeStreams(
      settings.database, settings.streams, report: onNotice,
      advanced: {
        newestToken.update($0)
        alerts.wake()
      })
    self.alerts = alerts
    self.newestToken = newestToken
  }

  /// Starts the threads that use the database.
  func start() throws {
    try pool.start()
    try probe.start()
    try streams.start()
    try alerts.start()
  }

  /// Ends the threads that use the database, before there are clients.
  func stop() {
    pool.close()
    probe.stop()
    streams.stop(within: .zero)
    alerts.stop()
  }

  /// Why the server is not ready; nil if it is.
  var unreadiness: String? {
    if isDraining.isSet { return "The server is about to end." }
    return pool.isFull ? "Too many requests wait for the database." : streams.unreadiness
  }

  /// Adds the figures of all parts to the metrics.
  func write(to text: inout PrometheusText) {
    text.buildInfo()
    metrics.write(to: &text)
    text.gauge(
      "quake_ready", "Whether the server reaches the database and follows it.",
      unreadiness == nil ? 1 : 0)
    text.gauge(
      "quake_http_connections", "Open connections of clients.", Double(connections.count))
    text.gauge(
      "quake_query_queue", "Requests that wait for a connection to the database.",
      Double(pool.waiting))
    streams.write(to: &text)
    ProcessFigures.write(to: &text)
  }
}

/// A message of the server for its log.
package struct ServerNotice: Sendable {
  package enum Level: Sendable {
    case note, warning, error
  }

  package let level: Level
  package let message: String
  package let detail: String?
  package let hint: String?

  init(_ level: Level, _ message: String, detail: String? = nil, hint: String? = nil) {
    self.level = level
    self.message = message
    self.detail = detail
    self.hint = hint
  }
}
