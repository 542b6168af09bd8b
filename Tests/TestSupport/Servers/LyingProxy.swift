import Glibc
import Synchronization

/// A proxy between a client and a real server that changes the server's messages.
public final class LyingProxy: Sendable {
  private let server: LyingServer

  /// Returns the bytes to send to the client in place of a message of the server. `number` is the
  /// number of earlier messages of this type on the connection.
  public typealias Lie = @Sendable (_ message: PostgresWire.Message, _ number: Int) -> [UInt8]

  /// A proxy in front of the unix socket at `path`.
  public init(to path: String, _ lie: @escaping Lie) throws {
    server = try LyingServer { client in
      guard let target = LocalSocket.connect(toPath: path) else { return }
      defer { close(target) }
      let real = PostgresWire(target)
      guard let startup = client.receiveStartup(),
        real.send(PostgresWire.int32(Int32(startup.count + 4)) + startup)
      else { return }
      let thread = BackgroundThread {
        // The client's messages are passed on unchanged.
        while let message = client.receive(), real.send(message) {}
        shutdown(target, Int32(SHUT_RDWR))
      }
      var counts: [UInt8: Int] = [:]
      while let message = real.receive() {
        let number = counts[message.type, default: 0]
        counts[message.type] = number + 1
        guard client.send(lie(message, number)) else { break }
      }
      shutdown(client.descriptor, Int32(SHUT_RDWR))
      shutdown(target, Int32(SHUT_RDWR))
      try? thread.join()
    }
  }

  /// The connection string of a database behind the proxy.
  public func conninfo(database: String) -> String {
    // libpq takes the later of two equal keywords.
    server.conninfo + " dbname=\(database)"
  }
}
