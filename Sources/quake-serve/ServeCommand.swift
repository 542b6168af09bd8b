import Basics
import CommandLine
import EmbeddedPostgres
import Glibc
import Postgres
import QuakeServer
import QuakeTool

/// `quake-serve`: reads its options, and runs the server until it is stopped.
struct ServeCommand {
  static let table = Command(
    "quake-serve",
    purpose:
      "serve the earthquakes in the database over HTTP: documents, and each change as it is committed",
    discussion: """
      The server speaks plain HTTP and listens on the loopback address unless --listen names another. For \
      TLS put a reverse proxy in front of it; deploy/ has examples. The page at / shows the earthquakes \
      live. Anyone who can connect may read. Edits need a token, and without --edit-token every edit is refused.

      SIGTERM and SIGINT let it finish the requests in progress; streams are ended, and their clients \
      resume from another server, or from this one when it runs again.
      """,
    version: productVersion,
    options: [
      .value(
        "listen", "HOST:PORT", default: "127.0.0.1:8080",
        help: "address to listen on; port 0 is any free one, an empty host all addresses"),
      .value(
        "metrics-listen", "HOST:PORT", default: "the address of --listen",
        help: """
          answer /metrics and /v1/status at this address only, with all that the status knows, and /healthz and \
          /readyz there as well
          """),
      .value(
        "public-url", "URL", default: "as the client sends it",
        help: "address under which clients reach the server, such as https://quakes.example.org"),
      .value(
        "trusted-proxy", "ADDRESS", repeatable: true,
        help: "believe the X-Forwarded-* fields of requests from this address"),
      .value(
        "edit-token", "NAME:HASH", repeatable: true,
        help: """
          allow edits with the bearer token whose SHA-256, in hexadecimal digits, is HASH; they are recorded \
          with the author NAME
          """),
      .value(
        "audit-token", "NAME:HASH", repeatable: true,
        help: """
          show the database roles, process ids, clients' addresses and imports of changes to requests with the \
          bearer token whose SHA-256 is HASH; others get null
          """),
      .value(
        "consumer-token", "NAME:HASH", repeatable: true,
        help: """
          let requests with the bearer token whose SHA-256 is HASH keep named cursors in the database, which hold purges \
          back: /v1/consumers
          """),
      .flag(
        "read-only-page",
        help: "the page offers no edits, as for a screen on a wall; the API still takes edits"),
      .value(
        "tile-url", "TEMPLATE", default: "coastlines and borders only",
        help: """
          show these map tiles on the page, such as https://tiles.example.org/{z}/{x}/{y}.png; browsers fetch \
          them from there
          """),
      .toggle(
        "cors", initially: true, help: "do not let pages of other sites read from this server"),
      .value(
        "max-connections", "N", default: "20000, or what the limit on open files allows",
        help: "serve at most N clients at once"),
      .value(
        "max-connections-per-address", "N", default: "200; loopback: no limit",
        help: "serve at most N connections per client IP address; 0: no limit"),
      .value(
        "max-rate", "N", default: "100; loopback: no limit",
        help: "answer on average N requests a second per client IP address; 0: no limit"),
      .value(
        "query-connections", "N", default: "4",
        help: "open at most N connections to the database for queries"),
      .value("query-timeout", "DURATION", default: "30s", help: "end queries that take longer"),
      .value(
        "request-timeout", "DURATION", default: "60s",
        help: "end connections whose request does not arrive in this time"),
      .value(
        "heartbeat", "DURATION", default: "30s",
        help: "send streams a heartbeat after this time without a change"),
      .value(
        "max-stream-age", "DURATION", default: "no limit",
        help: """
          end each stream when it is between half as old and as old as this; its client resumes at the server that a \
          proxy chooses, so that a restarted server gets its share of the streams again
          """),
      .value(
        "drain-streams", "DURATION", default: "0s",
        help: """
          when the server is stopped, end the streams one after the other over this time instead of all at once; \
          --drain begins after it
          """),
      .value(
        "drain", "DURATION", default: "10s",
        help: "wait this long for requests in progress when the server is stopped"),
      .toggle("access-log", initially: true, help: "do not log requests"),
      CommandConfiguration.option,
    ] + Tool.commonOptions,
    examples: [
      .init("quake-serve", "serve this machine on port 8080"),
      .init("quake-serve --listen :80 --max-rate 20", "serve everyone who can connect"),
    ],
    environment: DatabaseAccess.environment + CommandConfiguration.environment + [
      .init(
        "NOTIFY_SOCKET, WATCHDOG_USEC, ...", "set by systemd; the server reports its state to it")
    ], exitStatuses: Tool.exitStatuses)

  /// How often late connections are ended.
  private static let checkInterval = Duration.seconds(2)

  private let diagnostics: Diagnostics
  private let database: DatabaseAccess
  private let settings: EventServer.Settings
  /// The command warns if the limit on open files allows fewer clients than this.
  private let neededConnections: Int
  private let drain: Duration
  private let streamDrain: Duration
  private let logsAccess: Bool

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    var diagnostics = diagnostics
    diagnostics.form = .log
    self.diagnostics = diagnostics
    let listen = try Self.address("listen", arguments, or: "127.0.0.1:8080")
    database = try DatabaseAccess(arguments, diagnostics, reconnects: true)
    var settings = EventServer.Settings(
      listen: listen, database: database.settings, version: productVersion)
    if arguments.isGiven("metrics-listen") {
      settings.metricsListen = try Self.address("metrics-listen", arguments, or: "")
    }
    settings.embedded = database.embedded?.options.home
    settings.publicURL = try Self.publicURL(arguments)
    settings.trustedProxies = try Self.proxies(arguments)
    settings.tokens = try Self.tokens("edit-token", arguments)
    settings.auditTokens = try Self.tokens("audit-token", arguments)
    settings.consumerTokens = try Self.tokens("consumer-token", arguments)
    settings.page.isReadOnly = arguments.flag("read-only-page")
    settings.page.tiles = try Self.tiles(arguments)
    settings.allowsOrigins = arguments.flag("cors")
    settings.mostConnections =
      try arguments.integer("max-connections", in: 1...1_000_000) ?? settings.mostConnections
    neededConnections = arguments.isGiven("max-connections") ? settings.mostConnections : 1000
    if let most = try arguments.integer("max-connections-per-address", in: 0...1_000_000) {
      settings.limits.connections = most
      settings.limits.includesLoopback = true
    }
    if let most = try arguments.integer("max-rate", in: 0...1_000_000) {
      settings.limits.rate = Double(most)
      settings.limits.includesLoopback = true
    }
    settings.queryConnections =
      try arguments.integer("query-connections", in: 1...100) ?? settings.queryConnections
    let shortest = Duration.milliseconds(100)
    settings.queryTimeout =
      try arguments.duration("query-timeout", in: shortest...) ?? settings.queryTimeout
    settings.requestTimeout =
      try arguments.duration("request-timeout", in: .seconds(1)...) ?? settings.requestTimeout
    settings.heartbeat =
      try arguments.duration("heartbeat", in: shortest...) ?? settings.heartbeat
    // A second, because the times of the clients are looked at once a second.
    settings.longestStreamAge = try arguments.duration("max-stream-age", in: .seconds(1)...)
    streamDrain = try arguments.duration("drain-streams", in: .zero ... .seconds(3600)) ?? .zero
    drain = try arguments.duration("drain", in: .zero...) ?? .seconds(10)
    logsAccess = arguments.flag("access-log")
    self.settings = settings
  }

  private static func address(
    _ option: String, _ arguments: ParsedArguments, or usual: String
  ) throws -> ListenAddress {
    let text = arguments.string(option) ?? usual
    guard let address = ListenAddress(text) else {
      throw arguments.invalidValue(
        text, for: option, expected: "an address and a port, such as 127.0.0.1:8080 or [::1]:8080")
    }
    return address
  }

  private static func proxies(_ arguments: ParsedArguments) throws -> [String] {
    try arguments.strings("trusted-proxy").map { text in
      guard let address = EventServer.clientAddress(text) else {
        throw arguments.invalidValue(
          text, for: "trusted-proxy",
          expected: "the IP address of one proxy, such as 127.0.0.1 or ::1")
      }
      return address
    }
  }

  private static func tokens(
    _ option: String, _ arguments: ParsedArguments
  ) throws -> AccessTokens {
    for text in arguments.strings(option) {
      do throws(InvalidAccessToken) {
        _ = try AccessTokens([text])
      } catch {
        throw error.located(
          arguments.place(of: text, for: option).map { "\($0): key '\(option)'" }
            ?? "option --\(option)")
      }
    }
    return try AccessTokens(arguments.strings(option))
  }

  private static func publicURL(_ arguments: ParsedArguments) throws -> String? {
    guard var url = arguments.string("public-url") else { return nil }
    while url.hasSuffix("/") { url.removeLast() }
    let isWeb = url.hasPrefix("https://") || url.hasPrefix("http://")
    // Paths are put behind it, and everyone sees it.
    guard isWeb, !url.contains(where: { "?#@\"<".contains($0) }),
      url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw arguments.invalidValue(
        url, for: "public-url", expected: "an address such as https://quakes.example.org")
    }
    return url
  }

  private static func tiles(_ arguments: ParsedArguments) throws -> TileURL? {
    guard let text = arguments.string("tile-url") else { return nil }
    guard let tiles = TileURL(text) else {
      throw arguments.invalidValue(
        text, for: "tile-url",
        expected:
          "an address with {z}, {x} and {y}, such as https://tiles.example.org/{z}/{x}/{y}.png"
      )
    }
    return tiles
  }

  func run() throws -> ExitStatus {
    Signals.install()
    var settings = settings
    settings.mostConnections = DescriptorLimit.raise(
      for: settings.mostConnections, needed: neededConnections, diagnostics)
    // Fail fast on a wrong address of the database or a schema that does not fit. Later the server waits.
    _ = try database.connectToStore(wake: Signals.wakeDescriptor)
    let log = AccessLog(diagnostics)
    let logsAccess = logsAccess
    let server = try EventServer(
      settings, onAccess: { if logsAccess { log.write($0) } },
      onFailure: { log.failed($0, $1) }, onNotice: { log.write($0) })
    let manager = ServiceManager()
    diagnostics.note(
      "serving on http://\(server.address)", fields: ["address": .text("\(server.address)")])
    if let address = server.metricsAddress {
      diagnostics.note(
        "metrics and status on http://\(address)", fields: ["address": .text("\(address)")])
    }
    manager.ready("serving on http://\(server.address)")
    while !Signals.stopRequested, server.refusal == nil {
      _ = manager.wait(timeout: Self.checkInterval)
      server.endLateConnections()
    }
    manager.stopping()
    if server.refusal == nil, streamDrain > .zero { sendStreamsAway(server, manager) }
    end(server)
    if let refusal = server.refusal { throw refusal }
    return .ok
  }

  /// Ends the streams one after the other.
  private func sendStreamsAway(_ server: EventServer, _ manager: ServiceManager) {
    diagnostics.note("ending \(server.streamCount) streams over \(streamDrain.text)")
    let deadline = Deadline(after: streamDrain)
    server.sendStreamsAway(over: streamDrain)
    while server.streamCount > 0, !deadline.hasPassed {
      manager.alive()
      server.endLateConnections()
      _ = Connection.pause(for: .milliseconds(100))
    }
  }

  /// Ends the streams that are left, waits at most `drain` for requests in progress, then closes all connections.
  private func end(_ server: EventServer) {
    let deadline = Deadline(after: drain)
    server.beginDrain(within: drain)
    while server.requestsInProgress > 0, !deadline.hasPassed {
      _ = Connection.pause(for: .milliseconds(20))
    }
    server.stop()
    diagnostics.note("stopped")
  }
}

/// The limit on open files of this process, which is the limit on clients.
enum DescriptorLimit {
  /// Descriptors that are not clients: connections to the database, documents, standard streams.
  private static let reserve: rlim_t = 256

  /// Raises the soft limit as far as `clients` need.
  ///
  /// - Returns: The most clients that there are descriptors for; a warning says so if they are fewer than
  ///   `needed`.
  static func raise(for clients: Int, needed: Int, _ diagnostics: Diagnostics) -> Int {
    var limit = rlimit()
    let which = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(which, &limit) == 0 else { return clients }
    let wanted = rlim_t(clients) + reserve
    guard limit.rlim_cur < wanted else { return clients }
    let hard = limit.rlim_max
    limit.rlim_cur = min(wanted, hard)
    guard setrlimit(which, &limit) == 0, hard < wanted else { return clients }
    let possible = Int(max(16, hard > reserve ? hard - reserve : hard / 2))
    guard possible < needed else { return possible }
    diagnostics.warning(
      "the limit on open files allows only \(possible) clients at once, not \(needed)",
      hint: "Raise it: LimitNOFILE= of the service, or \"ulimit -n\" before the start.")
    return possible
  }
}
