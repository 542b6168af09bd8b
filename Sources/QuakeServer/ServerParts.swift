/// The parts of a server that its services share.
struct ServerParts: Sendable {
  let pool: QueryPool
  let streams: ChangeStreams
  let connections = OpenConnections()
  let drain = Drain()
  let metrics = RequestMetrics()
  let newestToken: NewestToken

  /// Makes the parts, and starts nothing.
  init(
    _ settings: QuakeServer.Settings, onNotice: @escaping @Sendable (_ sentence: String) -> Void
  ) throws {
    pool = QueryPool(
      QueryPool.Settings(
        connection: settings.database, threads: settings.queryConnections,
        statementTimeout: settings.queryTimeout))
    let newestToken = NewestToken()
    streams = try ChangeStreams(
      settings.database, settings.streams, report: onNotice,
      advanced: { newestToken.update($0) })
    self.newestToken = newestToken
  }

  /// Starts the threads that use the database.
  func start() throws {
    try pool.start()
    try streams.start()
  }

  /// Ends the threads that use the database, before there are clients.
  func stop() {
    pool.close()
    streams.stop(within: .zero)
  }

  /// Why the server is not ready; nil if it is.
  var unreadiness: String? {
    drain.hasBegun ? "The server is about to end." : streams.unreadiness
  }

  /// Adds the figures of all parts to the metrics.
  func write(to text: inout PrometheusText) {
    metrics.write(to: &text)
    text.single(
      "quake_ready", .gauge, "Whether the server reaches the database and follows it.",
      unreadiness == nil ? 1 : 0)
    text.single(
      "quake_http_connections", .gauge, "Open connections of clients.",
      Double(connections.count))
    text.single(
      "quake_query_queue", .gauge, "Requests that wait for a connection to the database.",
      Double(pool.waiting))
    streams.write(to: &text)
  }
}
