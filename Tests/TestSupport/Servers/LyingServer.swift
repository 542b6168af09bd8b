import Glibc
import Postgres
import Synchronization

/// A server that speaks as much of PostgreSQL's protocol as a test needs, correctly or not.
public final class LyingServer: Sendable {
  /// Its port, on 127.0.0.1.
  public let port: Int
  private let listener: Int32
  private let clients = Clients()

  /// Answers each connection by calling `script`, on a thread of its own.
  public init(_ script: @escaping @Sendable (PostgresWire) -> Void) throws {
    (listener, port) = try LoopbackListener.open()
    BackgroundThread.detach { [listener, clients] in
      // Closed here and not at the end of the server: until then no other server gets this descriptor.
      defer { close(listener) }
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        guard clients.begin(client) else { return }
        BackgroundThread.detach {
          script(PostgresWire(client))
          clients.end(client)
        }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    clients.endAll()
  }

  /// The open connections; nil after the end of the server. A descriptor is closed within the lock, because its number
  /// may belong to another connection right afterwards.
  private final class Clients: Sendable {
    private let open = Mutex<Set<Int32>?>([])

    /// Closes the connection if the server has ended.
    func begin(_ client: Int32) -> Bool {
      open.withLock { open in
        if open == nil { close(client) }
        open?.insert(client)
        return open != nil
      }
    }

    func end(_ client: Int32) {
      open.withLock { open in
        open?.remove(client)
        shutdown(client, Int32(SHUT_RDWR))
        close(client)
      }
    }

    /// Makes the threads of the connections close them.
    func endAll() {
      open.withLock { open in
        for client in open ?? [] { shutdown(client, Int32(SHUT_RDWR)) }
        open = nil
      }
    }
  }

  /// Its connection string.
  public var conninfo: String { Self.conninfo(port) }

  private static func conninfo(_ port: Int) -> String {
    "host=127.0.0.1 port=\(port) dbname=quake user=quake sslmode=disable gssencmode=disable"
  }

  /// Accepts a client without a password; false if it sent something other than a startup packet.
  @discardableResult
  public static func welcome(_ wire: PostgresWire) -> Bool {
    guard let packet = wire.receiveStartup(), packet.starts(with: [0, 3]) else { return false }
    return wire.send(welcome)
  }

  /// The messages to a client that is accepted.
  public static var welcome: [UInt8] {
    PostgresWire.Message("R", PostgresWire.int32(0)).bytes()
      + setting("server_version", "15.0") + setting("client_encoding", "UTF8")
      + setting("standard_conforming_strings", "on")
      + PostgresWire.Message("K", PostgresWire.int32(1) + PostgresWire.int32(2)).bytes() + ready
  }

  /// The message that reports a setting to a client.
  public static func setting(_ name: String, _ value: String) -> [UInt8] {
    PostgresWire.Message("S", PostgresWire.text(name) + PostgresWire.text(value)).bytes()
  }

  /// The message that the server is ready for a statement.
  public static let ready = PostgresWire.Message("Z", [0x49]).bytes()

  /// The description of columns of a type.
  public static func columns(_ count: Int, type: Int32 = 25, format: Int16 = 1) -> [UInt8] {
    let column =
      PostgresWire.text("c") + PostgresWire.int32(0) + PostgresWire.int16(0)
      + PostgresWire.int32(type) + PostgresWire.int16(-1) + PostgresWire.int32(-1)
      + PostgresWire.int16(format)
    return PostgresWire.Message(
      "T", PostgresWire.int16(Int16(count)) + (0..<count).flatMap { _ in column }
    ).bytes()
  }

  /// A row of values; nil for null.
  public static func row(_ values: [[UInt8]?]) -> [UInt8] {
    let fields = values.flatMap { value in
      PostgresWire.int32(value.map { Int32($0.count) } ?? -1) + (value ?? [])
    }
    return PostgresWire.Message("D", PostgresWire.int16(Int16(values.count)) + fields).bytes()
  }

  /// The end of a statement's result.
  public static func complete(_ tag: String) -> [UInt8] {
    PostgresWire.Message("C", PostgresWire.text(tag)).bytes()
  }

  /// The answer to the first query of each connection: its process id and its settings.
  public static let session =
    parsed + columns(1 + ConnectionSettings.pinned.count, format: 0)
    + row([Array("1".utf8)] + ConnectionSettings.pinned.map { Array($0.value.utf8) })
    + complete("SELECT 1") + ready

  /// A server that accepts clients, answers the first query of each, and calls `answer` at each
  /// later Sync or simple query; false from it closes the connection.
  public convenience init(
    answering answer: @escaping @Sendable (_ wire: PostgresWire, _ statement: Int) -> Bool
  ) throws {
    try self.init { wire in
      guard Self.welcome(wire) else { return }
      var count = -1
      while let message = wire.receive() {
        // Sync, or a simple query.
        guard message.type == 0x53 || message.type == 0x51 else { continue }
        count += 1
        guard count > 0 else {
          wire.send(Self.session)
          continue
        }
        guard answer(wire, count) else { return }
      }
    }
  }

  /// The messages before the result of a statement that was sent with its parameters.
  public static let parsed =
    PostgresWire.Message("1").bytes() + PostgresWire.Message("2").bytes()
}
