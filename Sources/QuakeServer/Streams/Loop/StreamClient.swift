import Basics
import Glibc
import QuakeModel

/// One client of the streams: about 250 bytes, and no buffer.
struct StreamClient {
  enum Phase: UInt8 {
    /// There is no client in this slot.
    case free
    /// It waits for its backlog, or for the follow loop.
    case waiting
    /// Its backlog is being sent.
    case backlog
    /// It gets the changes as they are committed.
    case live
  }

  struct Flags: OptionSet {
    let rawValue: UInt8
    /// The socket takes no more at the moment.
    static let blocked = Flags(rawValue: 1)
    /// It is in the list of those that can go on.
    static let queued = Flags(rawValue: 2)
    /// It gets a heartbeat when it has caught up, which tells it the cursor.
    static let greeting = Flags(rawValue: 4)
    /// It ends when it has caught up and something was sent, or after its deadline.
    static let longPoll = Flags(rawValue: 8)
    /// It has got a change or a snapshot.
    static let served = Flags(rawValue: 16)
    /// `StreamLoop.unsent` has bytes for it.
    static let hasUnsentBytes = Flags(rawValue: 32)
    /// It ends after those bytes.
    static let ending = Flags(rawValue: 64)
  }

  var phase = Phase.free
  var form = StreamForm.events
  var flags: Flags = []
  /// Counts the clients that this slot has had, to tell them apart.
  var generation: UInt32 = 0
  /// The next change of the page, and how many bytes of it have been sent.
  var change: Int32 = 0
  var offset: Int32 = 0
  var descriptor: Int32 = -1
  /// Its address, which decides when its turn for a backlog is.
  var address = ""
  var page = 0
  /// The number of the first page that came after the client.
  var joined = 0
  var group: FilterGroup?
  /// How many more changes it gets.
  var remaining = Int64.max
  /// When something was sent last, in milliseconds of the monotonic clock.
  var lastSent: Int64 = 0
  /// Since when the socket has taken nothing.
  var blockedSince: Int64 = 0
  /// When a long poll ends.
  var deadline = Int64.max
  /// When it is sent away, to come back to this server or another one.
  var leavesAt = Int64.max
  var backlog: Backlog?
  var backlogOffset = 0
  /// Where a frame of the backlog begins, at or before the offset; only for a WebSocket.
  var backlogFrame = 0
  /// When its backlog began.
  var backlogSince: Int64 = 0
  /// Where it begins, while it waits.
  var start = StreamOrder.Start.now
  var end: (@Sendable () -> Void)?
}

/// The parts of pages that are sent to a client with one call, one after the other.
final class PieceList {
  /// Some changes of a page, the first of them without the bytes that were sent before.
  struct Piece {
    var page: Int
    var first: Int
    var end: Int
    var size: Int
  }

  private(set) var pieces: [Piece] = []
  private(set) var size = 0
  let vectors: UnsafeMutablePointer<iovec>

  /// The most pieces, and the bytes after which no further piece is added.
  static let most = 64
  static let mostBytes = 256 << 10

  init() {
    vectors = .allocate(capacity: Self.most)
    pieces.reserveCapacity(Self.most)
  }

  deinit {
    vectors.deallocate()
  }

  var isFull: Bool { pieces.count == Self.most || size >= Self.mostBytes }

  func removeAll() {
    pieces.removeAll(keepingCapacity: true)
    size = 0
  }

  func append(_ bytes: UnsafeRawBufferPointer, page: Int, first: Int, end: Int) {
    vectors[pieces.count] = iovec(
      iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    pieces.append(Piece(page: page, first: first, end: end, size: bytes.count))
    size += bytes.count
  }
}

/// What other threads tell the thread of the streams.
enum StreamMessage: Sendable {
  case client(StreamOrder, TakenSocket)
  /// The follow loop begins after a cursor: at the start, or because the history has been replaced.
  case begin(HistoryCursor)
  /// The next page of the history.
  case page(EncodedPage)
  /// A backlog has been read, or could not be read.
  case backlog(Backlog.Key, Backlog.Outcome)
  /// Send the clients away one after the other, spread over a time. New ones are ended at once.
  case sendAway(Duration)
  /// End all streams at the end of an event, within a time.
  case stop(Duration)
}

extension Mailbox<StreamMessage> {
  /// Ends the clients that have come too late, and those that will come.
  func endClients() {
    for case .client(_, let socket) in close() { socket.end() }
  }
}
