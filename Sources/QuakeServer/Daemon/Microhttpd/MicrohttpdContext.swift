/// The objects that the callbacks of libmicrohttpd need; the server keeps them until the daemon has stopped.
final class MicrohttpdContext: Sendable {
  let service: HTTPService
  let requestTimeout: Duration
  let connections: OpenConnections
  let suspended = SuspendedConnections()

  init(_ service: HTTPService, _ connections: OpenConnections, requestTimeout: Duration) {
    self.service = service
    self.connections = connections
    self.requestTimeout = requestTimeout
  }
}
