import Basics
import CLinux
import Glibc
import QuakeModel

/// The one thread that writes to the clients of all streams.
///
/// It never blocks: a client that does not read costs the others nothing. What it sends is shared by all
/// clients, which only have a position in it: in the window of the newest changes, or in the file of a backlog.
final class StreamLoop {
  typealias ReadBacklog =
    @Sendable (Backlog.Key, Flag, @escaping @Sendable (Backlog.Outcome) -> Void) -> Void

  let settings: StreamSettings
  let mailbox: Mailbox<StreamMessage>
  let figures: StreamFigures
  let epoll: Int32

  var clients: [StreamClient] = []
  /// The slots that have no client.
  var free: [Int] = []
  var groups: [EventFilter: FilterGroup] = [:]
  var window: ChangeWindow?
  /// Counts the histories that were followed: a cursor that was verified in one is not in the next.
  var epoch = 0
  /// Clients that continue when the window has come to their cursors.
  var waitingForWindow: Set<Int> = []
  var backlogs: BacklogTable
  var statistics = StreamStatistics()
  /// The unsent bytes of clients whose sockets were full, of messages for one client, such as heartbeats.
  /// There are few.
  var unsent: [Int: UnsentBytes] = [:]
  /// The input from clients with a WebSocket.
  var inputs: [Int: WebSocketInput] = [:]
  /// Clients that can go on.
  private var runnable: [Int] = []
  /// How many clients are to be looked at because of new pages, and which is the next; the same for
  /// heartbeats.
  var sweep = (left: 0, next: 0)
  private var beat = (left: 0, next: 0)
  /// The newest heartbeat of each form.
  var heartbeats: [StreamForm: Heartbeat] = [:]
  private var nextBeat: Int64 = 0
  private var nextTick: Int64 = 0
  var longPolls = 0
  var takesClients = true
  /// When streams are cut in the middle of an event; nil before they are to end.
  var cutoff: Int64?
  /// Milliseconds of the monotonic clock.
  var now = MonotonicClock.milliseconds
  let pieces = PieceList()
  /// Whether the reader of the history should wait for clients that read as fast as they can.
  let pressure: Flag
  var pressureCheckedAt: Int64 = 0

  /// How many clients are looked at between two looks at the sockets.
  private static let sweepSize = 256
  /// How often clients that do not read, long polls and backlogs are looked at, in milliseconds.
  private static let tickInterval: Int64 = 250

  init(
    _ settings: StreamSettings, mailbox: Mailbox<StreamMessage>, figures: StreamFigures,
    pressure: Flag, readBacklog: @escaping ReadBacklog
  ) throws(DescriptorFailure) {
    self.settings = settings
    self.mailbox = mailbox
    self.figures = figures
    self.pressure = pressure
    backlogs = BacklogTable { key, isUnwanted in
      readBacklog(key, isUnwanted) { mailbox.post(.backlog(key, $0)) }
    }
    epoll = quake_epoll_create()
    guard epoll >= 0, quake_epoll_add_wake(epoll, mailbox.descriptor, .max) == 0 else {
      throw DescriptorFailure()
    }
  }

  deinit {
    close(epoll)
  }

  /// Serves the clients until a message ends it.
  func run() {
    var events = [quake_epoll_event](repeating: quake_epoll_event(), count: 256)
    while cutoff == nil || statistics.clients > 0 {
      let count = Int(quake_epoll_wait(epoll, &events, timeout))
      now = MonotonicClock.milliseconds
      var hasMessages = false
      for event in events[..<count] {
        if event.key == .max { hasMessages = true } else { handle(event) }
      }
      if hasMessages {
        for message in mailbox.take() { handle(message) }
      }
      for slot in takeRunnable() where clients[slot].phase != .free { advance(slot) }
      lookAtSome(&sweep) { advanceIfBehind($0) }
      if backlogs.canBegin {
        let clients = clients
        backlogs.begin { $0.isThere(clients) }
      }
      if now >= nextBeat {
        nextBeat = now + settings.beatInterval
        beat.left = clients.count
      }
      lookAtSome(&beat) {
        leaveIfDue($0)
        beatIfDue($0)
      }
      if now >= nextTick {
        nextTick = now + Self.tickInterval
        tick()
      }
      if pressure.isSet, now - pressureCheckedAt >= 5 { checkPressure() }
      publishStatistics()
    }
    pressure.set(false)
    mailbox.endClients()
  }

  /// How long to wait for events, in milliseconds.
  private var timeout: Int32 {
    if !runnable.isEmpty || sweep.left > 0 || beat.left > 0 { return 0 }
    var next = pressure.isSet ? now + 5 : Int64.max
    if statistics.clients > 0 { next = min(next, nextBeat) }
    if statistics.blocked > 0 || longPolls > 0 || !backlogs.isEmpty || cutoff != nil {
      next = min(next, nextTick)
    }
    return next == .max ? -1 : Int32(clamping: max(0, next - MonotonicClock.milliseconds))
  }

  private func takeRunnable() -> [Int] {
    guard !runnable.isEmpty else { return [] }
    let taken = runnable
    runnable = []
    for slot in taken { clients[slot].flags.remove(.queued) }
    return taken
  }

  /// Lets a client go on in the next turn.
  func queue(_ slot: Int) {
    guard clients[slot].flags.isDisjoint(with: [.queued, .blocked]) else { return }
    clients[slot].flags.insert(.queued)
    runnable.append(slot)
  }

  private func lookAtSome(_ turn: inout (left: Int, next: Int), _ body: (Int) -> Void) {
    let count = min(turn.left, Self.sweepSize)
    turn.left -= count
    for _ in 0..<count {
      if turn.next >= clients.count { turn.next = 0 }
      body(turn.next)
      turn.next += 1
    }
  }

  private func handle(_ event: quake_epoll_event) {
    let slot = Int(event.key & 0xFFFF_FFFF)
    guard slot < clients.count, clients[slot].phase != .free,
      clients[slot].generation == UInt32(event.key >> 32)
    else { return }
    if event.has_ended != 0 { return end(slot) }
    if event.is_readable != 0 {
      receive(slot)
      guard clients[slot].phase != .free else { return }
    }
    // A client that sends may still not read.
    if event.is_writable != 0, clients[slot].flags.contains(.blocked) {
      clients[slot].flags.remove(.blocked)
      statistics.blocked -= 1
    }
    queue(slot)
  }

  private func handle(_ message: StreamMessage) {
    switch message {
    case .client(let order, let socket): add(order, socket)
    case .begin(let cursor): begin(after: cursor)
    case .page(let page): append(page)
    case .backlog(let key, let outcome): handle(outcome, of: key)
    case .sendAway(let time): sendAway(over: time)
    case .stop(let limit): stop(within: limit)
    }
  }

  /// Checks what no event of a socket reports: stalled clients, long polls that end, backlogs to read again.
  private func tick() {
    if let cutoff, now >= cutoff {
      for slot in clients.indices where clients[slot].phase != .free { end(slot) }
    }
    if statistics.blocked > 0 {
      for slot in clients.indices where clients[slot].flags.contains(.blocked) { check(slot) }
    }
    if BacklogReaders.lackSpace { endSlowBacklogs() }
    if longPolls > 0 {
      for slot in clients.indices
      where clients[slot].phase == .live && now >= clients[slot].deadline { queue(slot) }
    }
    let clients = clients
    backlogs.tick(at: now) { $0.isThere(clients) }
  }

  private func publishStatistics() {
    statistics.filters = groups.count
    statistics.backlogs = backlogs.started
    statistics.windowBytes = window?.size ?? 0
    figures.publish(statistics)
  }
}

/// Bytes for one client that its socket has not taken yet.
struct UnsentBytes {
  var bytes: [UInt8]
  var sent = 0
  /// How many of the bytes answer input of the client.
  var answers = 0

  /// The most bytes of answers that wait for a client.
  static let mostAnswers = 64 << 10
}

/// The options of a client's socket.
enum SocketOptions {
  /// Events leave at once, the system keeps a limited number of bytes for a client that does not read, and the
  /// connection of a client that is gone fails within half a minute after something was sent.
  static func set(on descriptor: Int32, buffer: Int) {
    // A socket that is not of TCP has fewer options.
    set(descriptor, Int32(IPPROTO_TCP), TCP_CORK, 0)
    set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 30_000)
    set(descriptor, SOL_SOCKET, SO_SNDBUF, Int32(clamping: buffer))
    let flags = fcntl(descriptor, F_GETFL)
    if flags & O_NONBLOCK == 0 { _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
