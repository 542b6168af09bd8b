import Glibc
import Synchronization

/// A TCP proxy on 127.0.0.1 in front of a server on this machine, with the faults of a network: cuts, also after
/// a number of bytes, stalls, connections of which one direction is dead, delays.
package final class FaultyProxy: Sendable {
  /// What happens to bytes on their way.
  package enum Behaviour: Equatable, Sendable {
    /// They are forwarded at once.
    case pass
    /// Each piece waits for 75 ± 50 ms, without overtaking.
    case delay
    /// Each piece waits for 1.7 s, without overtaking, as on a machine with much too much to do.
    case crawl
    /// They are taken, and not forwarded as long as this lasts.
    case stall
  }

  /// Where bytes go.
  package enum Direction: Sendable {
    case toServer
    case toClient
  }

  /// What `hold` waits for.
  package struct Hold: Sendable {
    /// Bytes of a message of the client's.
    let text: String
    /// When they have come, and wait.
    package let isHeld: Event
    /// They go on when this has happened.
    package let mayPass: Event
  }

  /// The address of the server.
  private enum Target: Sendable {
    case socket(String)
    case port(Int)

    func connect() -> Int32? {
      switch self {
      case .socket(let path): LocalSocket.connect(toPath: path)
      case .port(let port): LocalSocket.connect(toPort: port)
      }
    }
  }

  private struct State {
    var target: Target
    var behaviour = Behaviour.pass
    var hold: Hold?
    /// After how many bytes to the client the next connections end, one after the other; then the last of them
    /// applies.
    var cuts: [Int]
    var connections: [Int: ProxiedConnection] = [:]
    var accepted = 0
    var isStopped = false
  }

  /// The port of the proxy.
  package let port: Int
  private let listener: Int32
  private let state: Mutex<State>
  private let seed: UInt64

  /// A proxy in front of the unix socket at `path`.
  package convenience init(to path: String, seed: UInt64 = 1) throws {
    try self.init(State(target: .socket(path), cuts: []), seed: seed)
  }

  /// A proxy in front of a port, whose connections end after these numbers of bytes.
  package convenience init(toPort port: Int, cuts: [Int] = []) throws {
    try self.init(State(target: .port(port), cuts: cuts), seed: 1)
  }

  private init(_ state: State, seed: UInt64) throws {
    self.state = Mutex(state)
    self.seed = seed
    (listener, port) = try LocalSocket.listen()
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
  package func conninfo(database: String, user: String) -> String {
    "host=127.0.0.1 port=\(port) dbname=\(database) user=\(user) sslmode=disable gssencmode=disable"
  }

  /// How HTTP clients reach a server through it.
  package var url: String { "http://127.0.0.1:\(port)" }

  /// How many connections there have been.
  package var acceptedCount: Int { state.withLock { $0.accepted } }

  /// What happens from now on, on all connections.
  package func set(_ behaviour: Behaviour) { state.withLock { $0.behaviour = behaviour } }

  /// Cuts the next connections after these numbers of bytes.
  package func set(cuts: [Int]) { state.withLock { $0.cuts = cuts } }

  /// Leads new connections to another port.
  package func lead(toPort port: Int) { state.withLock { $0.target = .port(port) } }

  /// The next message of a client's with these bytes waits.
  package func hold(_ text: String) -> Hold {
    let hold = Hold(text: text, isHeld: Event(), mayPass: Event())
    state.withLock { $0.hold = hold }
    return hold
  }

  /// Ends all connections.
  package func cut() {
    for connection in state.withLock({ $0.connections.values }) { connection.cut() }
  }

  /// On all present connections nothing passes any more in one direction; neither end is told.
  package func halfOpen(losing direction: Direction) {
    for connection in state.withLock({ $0.connections.values }) { connection.lose(direction) }
  }

  /// Ends everything.
  package func stop() {
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
    guard let server = state.withLock({ $0.target }).connect() else {
      close(client)
      return
    }
    let (number, limit) = state.withLock { state in
      state.accepted += 1
      let limit = state.cuts.count > 1 ? state.cuts.removeFirst() : state.cuts.first ?? .max
      return (state.accepted, limit)
    }
    let connection = ProxiedConnection(
      client: client, server: server, limit: limit, seed: seed &+ UInt64(number),
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
      guard let hold = state.hold, Self.contains(bytes, hold.text) else { return nil }
      state.hold = nil
      return hold
    }
  }

  private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    let wanted = Array(text.utf8)
    guard bytes.count >= wanted.count else { return false }
    return (0...(bytes.count - wanted.count)).contains { start in
      bytes[start] == wanted[0] && bytes[start..<(start + wanted.count)].elementsEqual(wanted)
    }
  }
}

/// One connection through the proxy: a thread that takes bytes from either end, keeps them for as long
/// as they are delayed, and hands them to the other.
private final class ProxiedConnection: Sendable {
  private struct Piece {
    var due: ContinuousClock.Instant
    var bytes: [UInt8]
  }

  /// One direction: where its bytes come from and go to, and those on their way.
  private struct Way {
    let direction: FaultyProxy.Direction
    let from: Int32
    let to: Int32
    /// How many more bytes may pass.
    var left: Int
    var pieces: [Piece] = []
    var hasEnded = false
  }

  private struct Faults {
    var isCut = false
    var lost: Set<FaultyProxy.Direction> = []
  }

  private let client: Int32
  private let server: Int32
  /// After how many bytes to the client it ends.
  private let limit: Int
  private let seed: UInt64
  private let behaviour: @Sendable () -> FaultyProxy.Behaviour
  private let takeHold: @Sendable ([UInt8]) -> FaultyProxy.Hold?
  private let faults = Mutex(Faults())

  init(
    client: Int32, server: Int32, limit: Int, seed: UInt64,
    behaviour: @escaping @Sendable () -> FaultyProxy.Behaviour,
    takeHold: @escaping @Sendable ([UInt8]) -> FaultyProxy.Hold?
  ) {
    self.client = client
    self.server = server
    self.limit = limit
    self.seed = seed
    self.behaviour = behaviour
    self.takeHold = takeHold
  }

  func cut() { faults.withLock { $0.isCut = true } }
  func lose(_ direction: FaultyProxy.Direction) {
    faults.withLock { _ = $0.lost.insert(direction) }
  }

  /// Forwards until an end closes or the connection is cut.
  func run() {
    var random = SeededGenerator(seed)
    var ways = [
      Way(direction: .toServer, from: client, to: server, left: .max),
      Way(direction: .toClient, from: server, to: client, left: limit, hasEnded: limit == 0),
    ]
    while !ways[0].hasEnded, !ways[1].hasEnded {
      var waiting = ways.map { way in
        pollfd(
          // Beyond this the sender waits, as it would for a real network.
          fd: way.pieces.count < 64 ? way.from : -1, events: Int16(POLLIN), revents: 0)
      }
      // Often enough for delays and for what is switched meanwhile.
      poll(&waiting, 2, 5)
      // What holds now, not when the wait began.
      let (isCut, lost) = faults.withLock { ($0.isCut, $0.lost) }
      if isCut { break }
      let behaviour = behaviour()
      for index in ways.indices {
        if waiting[index].revents != 0 { take(&ways[index], behaviour, &random) }
        if lost.contains(ways[index].direction) {
          ways[index].pieces = []
        } else if behaviour != .stall {
          forward(&ways[index])
        }
      }
    }
    close(client)
    close(server)
  }

  private func take(
    _ way: inout Way, _ behaviour: FaultyProxy.Behaviour, _ random: inout SeededGenerator
  ) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(way.from, &buffer, buffer.count, 0)
    guard count > 0 else {
      way.hasEnded = true
      return
    }
    let bytes = Array(buffer[..<count])
    if way.direction == .toServer, let hold = takeHold(bytes) {
      hold.isHeld.happen()
      hold.mayPass.wait()
    }
    var due = ContinuousClock.now
    switch behaviour {
    case .delay: due += .milliseconds(Int.random(in: 25...125, using: &random))
    case .crawl: due += .milliseconds(1700)
    case .pass, .stall: break
    }
    if let last = way.pieces.last { due = max(due, last.due) }
    way.pieces.append(Piece(due: due, bytes: bytes))
  }

  private func forward(_ way: inout Way) {
    let now = ContinuousClock.now
    while let piece = way.pieces.first, piece.due <= now {
      let sent = send(
        way.to, piece.bytes, min(piece.bytes.count, way.left),
        Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      if sent < 0 {
        if errno != EAGAIN && errno != EINTR { way.hasEnded = true }
        return
      }
      way.left -= sent
      if way.left == 0 {
        way.hasEnded = true
        return
      }
      if sent == piece.bytes.count {
        way.pieces.removeFirst()
      } else {
        way.pieces[0].bytes.removeFirst(sent)
        return
      }
    }
  }
}
