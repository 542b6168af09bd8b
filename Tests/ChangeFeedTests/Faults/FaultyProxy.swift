import Glibc
import Synchronization
import TestSupport

/// A TCP proxy on 127.0.0.1 in front of the server's unix socket, with the faults of a network: cuts,
/// stalls, connections of which one direction is dead, delays.
final class FaultyProxy: Sendable {
  /// What happens to bytes on their way.
  enum Behaviour: Equatable, Sendable {
    /// They are forwarded at once.
    case pass
    /// Each piece waits for 75 ± 50 ms, without overtaking.
    case delay
    /// They are taken, and not forwarded as long as this lasts.
    case stall
  }

  /// What `hold` waits for.
  struct Hold: Sendable {
    /// Bytes of a message of the client's.
    let text: String
    /// When they have come, and wait.
    let isHeld: Event
    /// They go on when this has happened.
    let mayPass: Event
  }

  struct State {
    var behaviour = Behaviour.pass
    var hold: Hold?
    var connections: [Int: ProxiedConnection] = [:]
    var accepted = 0
    var isStopped = false
  }

  let port: Int
  private let listener: Int32
  private let target: String
  private let state = Mutex(State())
  private let seed: UInt64

  /// A proxy in front of the unix socket at `path`.
  init(to path: String, seed: UInt64 = 1) throws {
    target = path
    self.seed = seed
    (listener, port) = try LoopbackListener.open()
    BackgroundThread.detach { [weak self, listener] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let proxy = self else { return }
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        proxy.begin(client)
      }
    }
  }

  deinit { stop() }

  /// How libpq reaches a server's database through it.
  func conninfo(database: String, user: String) -> String {
    "host=127.0.0.1 port=\(port) dbname=\(database) user=\(user) sslmode=disable gssencmode=disable"
  }

  /// How many connections there have been.
  var acceptedCount: Int { state.withLock { $0.accepted } }

  /// Whether bytes are on their way.
  var keepsBytes: Bool { state.withLock { $0.connections.values.contains(where: \.keepsBytes) } }

  /// What happens from now on, on all connections.
  func set(_ behaviour: Behaviour) { state.withLock { $0.behaviour = behaviour } }

  /// The next message of a client's with these bytes waits.
  func hold(_ text: String) -> Hold {
    let hold = Hold(text: text, isHeld: Event(), mayPass: Event())
    state.withLock { $0.hold = hold }
    return hold
  }

  /// Ends all connections.
  func cut() {
    for connection in state.withLock({ $0.connections.values }) { connection.cut() }
  }

  /// On all present connections nothing passes any more in one direction; neither end is told.
  func halfOpen(losing direction: ProxiedConnection.Direction) {
    for connection in state.withLock({ $0.connections.values }) { connection.lose(direction) }
  }

  /// Ends everything.
  func stop() {
    let isFirst = state.withLock { state in
      defer { state.isStopped = true }
      return !state.isStopped
    }
    guard isFirst else { return }
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
    cut()
  }

  private func begin(_ client: Int32) {
    guard let server = UnixSocket.connect(target) else {
      close(client)
      return
    }
    let number = state.withLock { state in
      state.accepted += 1
      return state.accepted
    }
    let connection = ProxiedConnection(
      client: client, server: server, seed: seed &+ UInt64(number),
      behaviour: { [weak self] in self?.state.withLock { $0.behaviour } ?? .pass },
      takeHold: { [weak self] bytes in self?.takeHold(bytes) })
    state.withLock { $0.connections[number] = connection }
    BackgroundThread.detach { [weak self] in
      connection.run()
      _ = self?.state.withLock { $0.connections.removeValue(forKey: number) }
    }
  }

  private func takeHold(_ bytes: [UInt8]) -> Hold? {
    state.withLock { state in
      guard let hold = state.hold, ByteSearch.contains(bytes, hold.text) else { return nil }
      state.hold = nil
      return hold
    }
  }
}
