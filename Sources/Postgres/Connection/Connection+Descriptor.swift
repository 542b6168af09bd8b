internal import CLibpq

extension Connection {
  /// The connection's socket, for those who wait for other things, too: when it is readable, there may be
  /// notifications to take.
  public var descriptor: Int32 { PQsocket(connection) }
}
