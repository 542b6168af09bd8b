internal import CLibpq

extension Connection {
  /// The connection's socket, for callers that poll several descriptors. When it is readable, notifications
  /// may have arrived.
  package var descriptor: Int32 { PQsocket(connection) }
}
