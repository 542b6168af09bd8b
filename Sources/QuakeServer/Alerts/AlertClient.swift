import Basics
import Glibc
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel

/// The stream of one consumer with conversations.
final class AlertClient {
  let name: String
  let holder: String
  private let order: AlertOrder
  private let socket: TakenSocket
  private let settings: StreamSettings
  private let store: ConsumerStore
  private var book: ConversationBook
  /// A reader that has more; nil: the next one begins after `seen`.
  var reader: HistoryReader?
  /// Up to where it has taken the changes.
  private(set) var seen: HistoryCursor
  /// The cursor that is in the database.
  private var stored: HistoryCursor
  private(set) var isAtEnd = false
  private(set) var hasEnded = false

  /// The number of the last message that is being sent.
  private var number: Int64 = 0
  /// Whether the database may have messages after it.
  private var hasMore = true
  /// How many messages it may owe now.
  private var owed: Int64
  private var countedAt = Duration.zero
  private var remaining: Int64
  private let deadline: Deadline?
  private var isServed = false
  private var hasGreeted = false
  private var unsent: [UInt8] = []
  private var lastSent = MonotonicClock.now()
  private var blockedSince = Duration.zero

  /// How many messages a consumer may owe: then it reads the history no further.
  private static let backlog: Int64 = 1000
  /// How many messages are read at once.
  private static let page: Int64 = 100

  init(
    _ order: AlertOrder, _ socket: TakenSocket, _ settings: StreamSettings,
    over work: Connection
  ) throws {
    self.order = order
    self.socket = socket
    self.settings = settings
    name = order.consumer.storedName
    holder = order.holder
    store = ConsumerStore(holder: holder)
    book = try store.book(order.rule, of: name, after: order.cursor, over: work)
    seen = order.cursor
    stored = order.cursor
    remaining = order.limit
    deadline = order.wait.map { Deadline(after: $0) }
    owed = try Self.count(name, over: work)
    SocketOptions.set(on: socket.descriptor, buffer: settings.socketBuffer)
  }

  var descriptor: Int32 { socket.descriptor }
  var isBlocked: Bool { !unsent.isEmpty }
  /// Whether it can go on at once.
  var isBusy: Bool { !isBlocked && hasMore || reads && !isAtEnd }
  var nextDue: Timestamp? { book.nextDue }
  /// Whether it reads the history, and does not owe too much.
  var reads: Bool { !hasEnded && owed < Self.backlog }

  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    socket.end()
  }

  // MARK: - Deciding

  /// Takes the changes of a page, and stores what they bring with the cursor.
  ///
  /// - Parameter time: Everything that was committed by then could be read with the page; nil: that is not known.
  func take(
    _ changes: [Change], upTo place: HistoryCursor, isAtEnd: Bool, completeUpTo time: Timestamp?,
    over work: Connection
  ) throws {
    self.isAtEnd = isAtEnd
    seen = place
    var page = ConsumerStore.Page()
    for change in changes {
      page.messages += try book.alerts(after: change)?.map { Message($0) } ?? []
    }
    if isAtEnd, let time { page.messages += try book.advance(to: time).map { Message($0) } }
    let hasChanged = page.add(book.takeUnstored(), of: name)
    guard !page.messages.isEmpty || hasChanged else { return }
    page.owed = page.messages.indices.map { (name, $0) }
    page.cursors = [(name, book.cursor)]
    do {
      _ = try store.record(page, over: work)
      stored = book.cursor
      owed += Int64(page.messages.count)
      if !page.messages.isEmpty { hasMore = true }
    } catch is ConsumerStore.LostConsumers {
      end()
    }
  }

  /// Stores a cursor that has moved without messages, and that a client is there.
  func showLife(over work: Connection) throws {
    do {
      try store.moveIdle([(name, book.cursor)], over: work)
      stored = book.cursor
    } catch is ConsumerStore.LostConsumers {
      end()
    }
  }

  private static func count(_ name: String, over work: Connection) throws(PostgresError) -> Int64 {
    try work.row(
      "select count(*) from quake.delivery where consumer = \(name)", prepared: true, as: Int64.self
    )
  }

  // MARK: - Sending

  /// Sends what is owed, a heartbeat if it is due, and ends a long poll.
  func send(over work: Connection) throws {
    let now = MonotonicClock.now()
    if owed >= Self.backlog, now - countedAt >= .seconds(1) {
      owed = try Self.count(name, over: work)
      countedAt = now
    }
    if unsent.isEmpty, hasMore { try readOwed(over: work) }
    if unsent.isEmpty, !hasMore { try idle(at: now, over: work) }
    flush(at: now)
    if unsent.isEmpty, remaining <= 0 { end() }
  }

  private func readOwed(over work: Connection) throws {
    let most = min(Self.page, remaining)
    let rows = try work.rows(
      """
      select number, id, data from quake.delivery
       where consumer = \(name) and number > \(number) order by number limit \(most)
      """, prepared: true, as: (Int64, String, String).self)
    for (number, id, data) in rows {
      self.number = number
      unsent += Array(
        (order.form == .events ? "event: alert\nid: \(id)\ndata: \(data)\n\n" : data + "\n").utf8)
    }
    remaining -= Int64(rows.count)
    hasMore = rows.count == most && remaining > 0
    if !rows.isEmpty { isServed = true }
  }

  /// Nothing is owed that was not sent.
  private func idle(at now: Duration, over work: Connection) throws {
    guard isAtEnd || !reads else { return }
    let speaks =
      deadline.map { isServed || $0.hasPassed }
      ?? (!hasGreeted || now - lastSent >= settings.heartbeat)
    guard speaks else { return }
    // The next stream begins there, and purges need not wait for it, also if the client goes now.
    if book.cursor != stored { try showLife(over: work) }
    guard !hasEnded else { return }
    guard deadline == nil else {
      remaining = 0
      return
    }
    hasGreeted = true
    var json = JSONWriter()
    json.heartbeat(seen.token, at: .now())
    let text = String(decoding: json.bytes, as: UTF8.self)
    unsent = Array(
      (order.form == .events ? "event: heartbeat\ndata: \(text)\n\n" : text + "\n").utf8)
  }

  private func flush(at now: Duration) {
    guard !unsent.isEmpty else { return }
    let sent = Glibc.send(
      socket.descriptor, unsent, unsent.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    if sent > 0 {
      unsent.removeFirst(sent)
      lastSent = now
      blockedSince = now
    } else if sent < 0, errno != EAGAIN, errno != EINTR {
      return end()
    }
    if blockedSince == .zero { blockedSince = now }
    if !unsent.isEmpty, now - blockedSince > settings.stallLimit { end() }
    if unsent.isEmpty { blockedSince = .zero }
  }
}
