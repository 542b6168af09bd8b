internal import Postgres
internal import QuakeHistory
public import QuakeModel
public import QuakeQuery

/// A list of events that is kept up to date: first the present list, then, after each change, the new list
/// and its difference from the one before.
///
/// ```swift
/// var rows: [Row] = []
/// for try await update in database.liveQuakes(order: .timeDescending, filter: filter) {
///   update.difference.apply(to: &rows) { Row(update.quakes[$0]) }
/// }
/// ```
///
/// All transactions that were committed since the consumer last asked become **one** difference, however
/// many they are. It holds their net changes; if there are none, there is no update. An event that begins or
/// ceases to meet the filter is an insertion or a deletion.
///
/// When the history cannot be followed any more (the database was restored, or changes committed while the
/// connection was lost have been purged), the list is read again, and that update has `reset` set.
/// Back-pressure, lost connections, cancellation and errors are as documented for `QuakeChanges`.
///
/// The list is in memory: an event takes about 1 kB, depending on its texts.
public struct LiveQuakes: AsyncSequence, Sendable {
  /// A list, and its difference from the one before.
  public struct Update: Sendable {
    /// Counts the updates of an iterator, from 0.
    public let generation: Int
    /// The newest transaction that the list shows.
    public let token: ChangeToken
    /// The events that meet the filter, in the requested order.
    public let quakes: [QuakeRecord]
    /// The difference from the update before; in the first, from an empty list.
    public let difference: QuakeDifference
    /// Why the list was read again instead of being followed; nil if it was followed. There is such an update
    /// even if the difference is empty, because the tokens from here on belong to another history.
    public let reset: StoreError?
  }

  /// The element of the sequence.
  public typealias Element = Update

  let makeSource: PullThread<Update>.MakeSource

  /// Begins a list of its own, with the first `next()`.
  public func makeAsyncIterator() -> PullIterator<Update> {
    PullIterator(makeSource)
  }
}

/// A window of a list of events that is kept up to date: the rows that a view shows, however long the list is.
///
/// ```swift
/// var query = EventQuery()
/// query.order = [.greatestFirst]
/// query.limit = 50
/// for try await update in database.liveWindow(query) {
///   show(update.quakes, of: update.count)
/// }
/// ```
///
/// The window begins after the query's `after` and has at most `limit` events. To scroll, begin another window
/// with the `next` of an update as its `after`. The events, their number and the token of an update belong to
/// one moment.
///
/// `LiveQuakes` keeps the whole list in memory and applies the changes to it. A window keeps only its own rows:
/// after changes that can concern the list, the server selects them again. All transactions that were committed
/// since the consumer last asked become one update; if the window and the number of events are the same after
/// them, there is none. Back-pressure, lost connections, cancellation and errors are as documented for
/// `QuakeChanges`.
public struct LiveWindow: AsyncSequence, Sendable {
  /// A window, and its difference from the one before.
  public struct Update: Sendable {
    /// Counts the updates of an iterator, from 0.
    public let generation: Int
    /// The newest transaction that the window shows.
    public let token: ChangeToken
    /// The number of events in the whole list.
    public let count: Int64
    /// The events of the window.
    public let quakes: [QuakeRecord]
    /// Where the next window begins; nil: there is none.
    public let next: EventCursor?
    /// The difference from the update before; in the first, from an empty window.
    public let difference: QuakeDifference
    /// Why the history could not be followed up to here; nil if it was followed. See `LiveQuakes`.
    public let reset: StoreError?
  }

  /// The element of the sequence.
  public typealias Element = Update

  let makeSource: PullThread<Update>.MakeSource

  /// Begins a window of its own, with the first `next()`.
  public func makeAsyncIterator() -> PullIterator<Update> {
    PullIterator(makeSource)
  }
}

/// Keeps a list up to date, on demand.
struct LiveSource: PullSource {
  private let follower: ReconnectingFollower
  private let filter: QuakeFilter
  private var list: QuakeList
  private var token = ChangeToken.beginning
  private var generation = 0

  init(_ follower: ReconnectingFollower, order: QuakeOrder, filter: QuakeFilter) {
    self.follower = follower
    self.filter = filter
    list = QuakeList(order: order)
  }

  mutating func next() throws -> LiveQuakes.Update? {
    if generation == 0 { return try load() }
    do {
      while true {
        let difference = try follow()
        if !difference.isEmpty { return update(difference) }
      }
    } catch let error as StoreError {
      guard case .token = error.kind else { throw error }
      return try load(because: error)
    }
  }

  mutating func pause() {
    follower.pause()
  }

  /// Applies everything that has been committed. Read to its end, the history ends with a whole transaction.
  private mutating func follow() throws -> QuakeDifference {
    var changes = NetChanges()
    // The changes that were read must not wait for later ones.
    var isAtEnd = try read(into: &changes, waiting: true)
    while !isAtEnd { isAtEnd = try read(into: &changes, waiting: false) }
    if let cursor = follower.cursor { token = cursor.token }
    return list.apply(changes)
  }

  private func read(into changes: inout NetChanges, waiting: Bool) throws -> Bool {
    try follower.readPage(waiting: waiting) { changes.add($0, filter: filter, list: list) }
  }

  private mutating func load(because reason: StoreError? = nil) throws -> LiveQuakes.Update {
    var quakes: [QuakeRecord] = []
    try follower.begin { connection in
      quakes = []
      try Snapshot.read(over: connection, begin: { token = $0 }) { quake in
        if filter.accepts(quake) { quakes.append(quake) }
      }
      return token
    }
    return update(list.apply(NetChanges(replacingAllWith: quakes)), reset: reason)
  }

  private mutating func update(
    _ difference: QuakeDifference, reset: StoreError? = nil
  ) -> LiveQuakes.Update {
    defer { generation += 1 }
    return LiveQuakes.Update(
      generation: generation, token: token, quakes: list.quakes, difference: difference,
      reset: reset)
  }
}

/// Keeps a window of a list up to date, on demand.
struct WindowSource: PullSource {
  private let follower: ReconnectingFollower
  private let query: EventQuery
  private var quakes: [QuakeRecord] = []
  private var count: Int64 = 0
  private var generation = 0

  init(_ follower: ReconnectingFollower, query: EventQuery) {
    self.follower = follower
    self.query = query
  }

  mutating func next() throws -> LiveWindow.Update? {
    if generation == 0 { return try select() }
    do {
      while true {
        guard try follow() else { continue }
        if let update = try select() { return update }
      }
    } catch let error as StoreError {
      guard case .token = error.kind else { throw error }
      return try select(because: error)
    }
  }

  mutating func pause() {
    follower.pause()
  }

  /// Waits for changes and reads them to the end.
  ///
  /// - Returns: Whether one of them can concern the list.
  private func follow() throws -> Bool {
    var concerns = false
    let note = { (change: Change) in
      if change.op == .truncate || query.concerns(change) { concerns = true }
    }
    var isAtEnd = try follower.readPage(waiting: true, note)
    while !isAtEnd { isAtEnd = try follower.readPage(waiting: false, note) }
    return concerns
  }

  /// Reads the window; nil if it is the same as before.
  private mutating func select(because reason: StoreError? = nil) throws -> LiveWindow.Update? {
    var token = ChangeToken.beginning
    var page: EventPage?
    var count: Int64 = 0
    try follower.begin { connection in
      try connection.transaction(.repeatableRead, readOnly: true) {
        // See `Snapshot.read`.
        try connection.execute("lock table quake.quake in access share mode")
        try connection.planFreely()
        token = try HistoryReader.latestToken(over: connection)
        page = try query.page(over: connection)
        count = try query.count(over: connection)
        return token
      }
    }
    guard let page else { return nil }
    let difference = QuakeDifference(from: quakes, to: page.events)
    if generation > 0, reason == nil, difference.isEmpty, count == self.count { return nil }
    quakes = page.events
    self.count = count
    defer { generation += 1 }
    return LiveWindow.Update(
      generation: generation, token: token, count: count, quakes: quakes, next: page.next,
      difference: difference, reset: reason)
  }
}

extension EventQuery {
  /// Whether a change can change the list: the event met the filter before it or meets it afterwards.
  fileprivate func concerns(_ change: Change) -> Bool {
    change.old.map(filter.accepts) ?? false || change.new.map(filter.accepts) ?? false
  }
}
