import Glibc
import Synchronization
import TestSupport

/// One connection through the proxy: a thread that takes bytes from either end, keeps them for as long
/// as they are delayed, and hands them to the other.
final class ProxiedConnection: Sendable {
  enum Direction: Sendable {
    case toServer
    case toClient
  }

  private struct Piece {
    var due: ContinuousClock.Instant
    var bytes: [UInt8]
  }

  /// One direction: where its bytes come from and go to, and those on their way.
  private struct Way {
    let direction: Direction
    let from: Int32
    let to: Int32
    var pieces: [Piece] = []
    var hasEnded = false
  }

  private struct Faults {
    var isCut = false
    var lost: Set<Direction> = []
  }

  private let client: Int32
  private let server: Int32
  private let seed: UInt64
  private let behaviour: @Sendable () -> FaultyProxy.Behaviour
  private let takeHold: @Sendable ([UInt8]) -> FaultyProxy.Hold?
  private let faults = Mutex(Faults())
  private let isKeeping = Atomic<Bool>(false)

  init(
    client: Int32, server: Int32, seed: UInt64,
    behaviour: @escaping @Sendable () -> FaultyProxy.Behaviour,
    takeHold: @escaping @Sendable ([UInt8]) -> FaultyProxy.Hold?
  ) {
    self.client = client
    self.server = server
    self.seed = seed
    self.behaviour = behaviour
    self.takeHold = takeHold
  }

  /// Whether bytes have been taken and not handed on.
  var keepsBytes: Bool { isKeeping.load(ordering: .relaxed) }

  func cut() { faults.withLock { $0.isCut = true } }
  func lose(_ direction: Direction) { faults.withLock { _ = $0.lost.insert(direction) } }

  /// Forwards until an end closes or the connection is cut.
  func run() {
    var random = SeededGenerator(seed)
    var ways = [
      Way(direction: .toServer, from: client, to: server),
      Way(direction: .toClient, from: server, to: client),
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
      isKeeping.store(ways.contains { !$0.pieces.isEmpty }, ordering: .relaxed)
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
    if behaviour == .delay {
      due += .milliseconds(Int.random(in: 25...125, using: &random))
    }
    if let last = way.pieces.last { due = max(due, last.due) }
    way.pieces.append(Piece(due: due, bytes: bytes))
  }

  private func forward(_ way: inout Way) {
    let now = ContinuousClock.now
    while let piece = way.pieces.first, piece.due <= now {
      let sent = send(
        way.to, piece.bytes, piece.bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      if sent < 0 {
        if errno != EAGAIN && errno != EINTR { way.hasEnded = true }
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
