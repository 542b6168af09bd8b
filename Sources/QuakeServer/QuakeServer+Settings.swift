public import Postgres

extension QuakeServer {
  /// How the server runs.
  public struct Settings: Sendable {
    /// Where to listen.
    public var listen: ListenAddress
    /// The database.
    public var database: ConnectionSettings
    /// The version that documents state.
    public var version: String
    /// The most connections to the database for queries; 1 to 100.
    public var queryConnections = 4
    /// The most time that a query may take.
    public var queryTimeout = Duration.seconds(30)
    /// The most clients at once.
    public var mostConnections = 20_000
    /// The most connections of one address; 0: no limit.
    public var connectionsPerAddress = 200
    /// The requests per second of one address in the long run; 0: no limit.
    public var requestRate = 100.0
    /// Whether these two limits are for loopback addresses as well.
    public var limitsLoopback = false
    /// How long a client may take to send a request; at least a second.
    public var requestTimeout = Duration.seconds(60)
    /// Whether pages of other sites may read.
    public var allowsOrigins = true
    /// The proxies whose `X-Forwarded-*` fields are believed: numeric addresses.
    public var trustedProxies: [String] = []
    /// The address that clients use, without a slash at its end; nil: the one that they send.
    public var publicURL: String?
    /// How the streams of changes run.
    var streams = StreamSettings()
    /// After how long without a change a stream gets a heartbeat.
    public var heartbeat: Duration {
      get { streams.heartbeat }
      set { streams.heartbeat = newValue }
    }
    /// The tokens of the people who may edit.
    public var tokens = AccessTokens()
    /// The operator's settings for the page.
    public var page = PageSettings()
    /// The folder of the embedded server, which the status names; nil if the database is not embedded.
    public var embedded: String?

    /// Settings with the usual limits.
    public init(listen: ListenAddress, database: ConnectionSettings, version: String) {
      self.listen = listen
      self.database = database
      self.version = version
    }
  }
}
