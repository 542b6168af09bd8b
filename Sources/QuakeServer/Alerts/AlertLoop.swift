import Basics
import Glibc
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel

/// Serves the clients of consumers with conversations, on one thread.
///
/// After a thrown error it is to end all clients, which come back to this server or another one.
final class AlertLoop {
  private let settings: StreamSettings
  private let connect: () throws -> Connection
  /// While there are clients: one connection reads the history, the other one what the conversations need.
  private var connections: (history: Connection, work: Connection)?
  private var clients: [AlertClient] = []
  private var arrivals: [(AlertOrder, TakenSocket)] = []
  private var clock = DatabaseClock()
  /// Whether the history may have something new.
  private var hasNews = true
  private var polls = PeriodicTimer(.seconds(5))
  private var looks = PeriodicTimer(.seconds(2))
  private var life = PeriodicTimer(.seconds(10))

  init(_ settings: StreamSettings, connect: @escaping () throws -> Connection) {
    self.settings = settings
    self.connect = connect
  }

  var count: Int { clients.count }

  // MARK: - Clients

  /// Takes clients, which are served from the next turn on.
  func add(_ new: [(AlertOrder, TakenSocket)]) { arrivals += new }

  private func beginArrivals() throws {
    while let (order, socket) = arrivals.first {
      clients.append(try AlertClient(order, socket, settings, over: try opened().work))
      arrivals.removeFirst()
    }
  }

  func endAll() {
    for client in clients { client.end() }
    for (_, socket) in arrivals { socket.end() }
    (clients, arrivals) = ([], [])
    close()
  }

  private func close() {
    connections = nil
    clock = DatabaseClock()
  }

  private func opened() throws -> (history: Connection, work: Connection) {
    if let connections { return connections }
    let new = (history: try connect(), work: try connect())
    connections = new
    return new
  }

  private func removeEnded() {
    clients.removeAll { $0.hasEnded }
    if clients.isEmpty { close() }
  }

  // MARK: - Turns

  /// Does what there is to do.
  func turn() throws {
    try beginArrivals()
    removeEnded()
    guard !clients.isEmpty else { return }
    let (history, work) = try opened()
    if looks.fireIfDue() { try look(over: work) }
    if polls.fireIfDue() { hasNews = true }
    // Asked before the history: what was committed by then, and has not been notified yet, comes first.
    let waits = clients.contains { $0.nextDue != nil }
    let completeUpTo = waits ? try clock.completeTime(over: work) : nil
    let readers = clients.filter { client in
      let isDue = completeUpTo.flatMap { time in client.nextDue.map { $0 <= time } } ?? false
      return client.reads && (hasNews || !client.isAtEnd || isDue)
    }
    hasNews = false
    // Those at the same place read together.
    for (cursor, group) in Dictionary(grouping: readers, by: \.seen) {
      try read(group, after: cursor, completeUpTo: completeUpTo, history, work)
    }
    for client in clients where !client.hasEnded { try client.send(over: work) }
    if life.fireIfDue() {
      for client in clients where !client.hasEnded { try client.showLife(over: work) }
    }
    removeEnded()
  }

  private func read(
    _ group: [AlertClient], after cursor: HistoryCursor, completeUpTo time: Timestamp?,
    _ history: Connection, _ work: Connection
  ) throws {
    var changes: [Change] = []
    var isAtEnd = false
    var seen = cursor
    do {
      var reader =
        try group.lazy.compactMap(\.reader).first
        ?? HistoryReader(connection: history, after: cursor)
      isAtEnd = try reader.readPage { changes.append($0) }
      seen = reader.cursor
      for client in group { client.reader = isAtEnd ? nil : reader }
    } catch let error as StoreError {
      guard case .token = error.kind else { throw error }
      // Its place is not in this history: the next request says so.
      for client in group { client.end() }
      return
    }
    for client in group {
      try client.take(changes, upTo: seen, isAtEnd: isAtEnd, completeUpTo: time, over: work)
    }
  }

  /// Ends the streams of consumers that others have taken, paused, moved or removed.
  private func look(over work: Connection) throws {
    let held = try work.rows(
      """
      select w.name, w.holder from quake.watcher w join quake.consumer c using (name)
       where w.name = any (\(clients.map(\.name))::text[]) and c.paused_at is null and w.holder is not null
      """, as: (String, String).self)
    let holders = Dictionary(held, uniquingKeysWith: { first, _ in first })
    for client in clients where holders[client.name] != client.holder { client.end() }
  }

  // MARK: - Waiting

  /// `POLLRDHUP` of Linux, which Glibc's module lacks: the client has closed its side.
  private static let hangUp: Int16 = 0x2000

  /// Waits until an event is raised, and lowers it, or until a client's socket takes more or is closed, or something is
  /// due.
  func wait(for event: WakeEvent) {
    var sockets = clients.map { client in
      pollfd(
        fd: client.descriptor, events: Self.hangUp | (client.isBlocked ? Int16(POLLOUT) : 0),
        revents: 0)
    }
    sockets.append(pollfd(fd: event.descriptor, events: Int16(POLLIN), revents: 0))
    poll(&sockets, UInt(sockets.count), timeout)
    // It may have been raised after that.
    if event.lower() { hasNews = true }
    let gone = Self.hangUp | Int16(POLLHUP) | Int16(POLLERR)
    for (client, socket) in zip(clients, sockets) where socket.revents & gone != 0 { client.end() }
  }

  private var timeout: Int32 {
    if clients.isEmpty { return -1 }
    if clients.contains(where: \.isBusy) { return 0 }
    // Heartbeats, waits of conversations and long polls, and what others do.
    return Int32(clamping: min(250, settings.beatInterval))
  }
}
