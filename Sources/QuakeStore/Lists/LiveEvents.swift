internal import Postgres
internal import QuakeHistory
public import QuakeModel
public import QuakeQuery

extension QuakeDatabase {
  /// The list of a query, kept up to date: all of it, or the window that `limit`, `after` and `offset` cut out.
  ///
  /// - Parameter query: The query. `asOf` and `asOfFeed` are ignored: the past does not change.
  public func live(_ query: EventQuery = EventQuery()) -> LiveEvents {
    LiveEvents { wake in
      var query = query
      query.asOf = nil
      query.asOfFeed = nil
      query.codes = nil
      let follower = ReconnectingFollower(self, wake: wake, start: .now)
      if let source = WholeListSource(follower, query) { return source }
      return WindowSource(follower, query)
    }
  }
}

/// A list of events that is kept up to date: first the present list, then, after each change, the new list
/// and its difference from the one before.
///
/// ```swift
/// var rows: [Row] = []
/// for try await update in database.live(EventQuery(where: .magnitude >= 5)) {
///   update.difference.apply(to: &rows) { Row(update.events[$0]) }
/// }
/// ```
///
/// All transactions that were committed since the consumer last asked become **one** update, however many they are.
/// It holds their net changes; if there are none, there is no update. An event that begins or ceases to meet the
/// query's conditions is an insertion or a deletion.
///
/// A query without a limit gives the **whole list**, which is in memory: an event takes about 1 kB, depending on its
/// texts and the query's columns. The library applies the changes to it. Events that are equal in the query's order
/// are in the order of their codes, byte by byte.
///
/// A query with a limit gives a **window**: the rows that a view shows, however long the list is. After changes that
/// can concern the list, the server selects the rows again. To scroll, begin another window with the `next` of an
/// update as its `after`. The server also selects lists ordered by a text, whose order is that of the database's
/// collation, and those with `changedSince` or deleted events.
///
/// When the history cannot be followed any more (the database was restored, or changes committed while the
/// connection was lost have been purged), the list is read again, and that update has `reset` set.
/// Back-pressure, lost connections, cancellation and errors are as documented for `EventChanges`.
public struct LiveEvents: AsyncSequence, Sendable {
  /// A list, and its difference from the one before. All of it belongs to one moment.
  public struct Update: Sendable {
    /// Counts the updates of an iterator, from 0.
    public let generation: Int
    /// The newest transaction that the list shows.
    public let token: ChangeToken
    /// The events, in the order of the query.
    public let events: [EventRecord]
    /// The number of events in the list, of which a window shows a part.
    public let count: Int64
    /// Where the next window begins; nil: the list ends with these events.
    public let next: EventCursor?
    /// The difference from the update before; in the first, from an empty list.
    public let difference: Difference
    /// Why the list was read again instead of being followed; nil if it was followed. There is such an update
    /// even if the difference is empty, because the tokens from here on belong to another history.
    public let reset: StoreError?
  }

  /// The difference between one list of events and the next, by index.
  ///
  /// To turn the old list into the new one, in this order:
  /// 1. remove the events at `deletions`: indices in the **old** list, ascending; begin with the last;
  /// 2. insert the events at `insertions`: indices in the **new** list, ascending; begin with
  ///    the first;
  /// 3. replace the events at `modifications`: indices in the **new** list, ascending.
  ///
  /// This is the order of batch updates in views, and of the standard library's `CollectionDifference`
  /// (removals, then insertions). `apply(to:taking:)` does it. An index is in each array at most once.
  public struct Difference: Hashable, Sendable {
    /// An event whose change gives it another index among the other events.
    public struct Move: Hashable, Sendable {
      /// Its index in the old list.
      public let from: Int
      /// Its index in the new list.
      public let to: Int
    }

    /// Events that are not in the new list, and those that have moved: indices in the old list.
    public internal(set) var deletions: [Int] = []
    /// Events that were not in the old list, and those that have moved: indices in the new list.
    public internal(set) var insertions: [Int] = []
    /// Events that have changed and have kept their order: indices in the new list.
    public internal(set) var modifications: [Int] = []
    /// The deletions and insertions that are the same event, by the new index; for views that animate the
    /// move. Other views can treat them as a deletion and an insertion.
    public internal(set) var moves: [Move] = []

    /// Whether there is none.
    public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

    /// Turns the old list into the new one, element by element.
    ///
    /// - Parameters:
    ///   - list: The elements made from the old list, one for each event.
    ///   - element: Makes the element for an index in the new list.
    public func apply<Element>(to list: inout [Element], taking element: (Int) throws -> Element)
      rethrows
    {
      for index in deletions.reversed() { list.remove(at: index) }
      for index in insertions { list.insert(try element(index), at: index) }
      for index in modifications { list[index] = try element(index) }
    }
  }

  /// The element of the sequence.
  public typealias Element = Update

  let makeSource: PullThread<Update>.MakeSource

  /// Begins a list of its own, with the first `next()`.
  public func makeAsyncIterator() -> PullIterator<Update> {
    PullIterator(makeSource)
  }
}

/// Keeps a list up to date, on demand. If the history cannot be followed any more, it reads the list again.
private protocol ListSource: PullSource<LiveEvents.Update> {
  var follower: ReconnectingFollower { get }
  /// The number of updates so far.
  var generation: Int { get }

  /// Waits for changes; nil if they leave the list as it is.
  mutating func follow() throws -> LiveEvents.Update?

  /// Reads the list; nil if it is the one before.
  ///
  /// - Parameter reason: Why the list could not be followed; nil if it is read for the first time, or after changes.
  mutating func load(because reason: StoreError?) throws -> LiveEvents.Update?
}

extension ListSource {
  mutating func next() throws -> LiveEvents.Update? {
    if generation == 0 { return try load(because: nil) }
    do {
      while true {
        if let update = try follow() { return update }
      }
    } catch let error as StoreError {
      guard case .token = error.kind else { throw error }
      return try load(because: error)
    }
  }

  mutating func pause() { follower.pause() }
}

/// Keeps a whole list up to date by the changes to it.
private struct WholeListSource: ListSource {
  let follower: ReconnectingFollower
  private let query: EventQuery
  private let selection: ListSelection
  private var list: LiveList
  private var token = ChangeToken.beginning
  private(set) var generation = 0

  /// Nil: the list can only be selected by the server.
  init?(_ follower: ReconnectingFollower, _ query: EventQuery) {
    guard query.limit == nil, query.after == nil, query.offset == 0, query.changedSince == nil,
      !query.past.contains(.deleted), let order = ListOrder(query.order)
    else { return nil }
    var query = query
    let columns = Set(query.columns).union(order.columns.map(\.column)).union([.code])
    query.columns = EventColumn.allCases.filter(columns.contains)
    self.follower = follower
    self.query = query
    selection = ListSelection(query, columns: columns)
    list = LiveList(order: order)
  }

  /// Applies everything that has been committed. Read to its end, the history ends with a whole transaction.
  mutating func follow() throws -> LiveEvents.Update? {
    var changes = NetChanges()
    try follower.readToEnd { changes.add($0, selection: selection, list: list) }
    if let cursor = follower.cursor { token = cursor.token }
    let difference = list.apply(changes)
    return difference.isEmpty ? nil : update(difference)
  }

  mutating func load(because reason: StoreError?) throws -> LiveEvents.Update? {
    var events: [EventRecord] = []
    try follower.begin { connection in
      events = []
      try connection.atOneMoment {
        try connection.planFreely()
        token = try HistoryReader.latestToken(over: connection)
        try query.read(over: connection) { events.append($0) }
      }
      return token
    }
    return update(list.apply(NetChanges(replacingAllWith: events)), reset: reason)
  }

  private mutating func update(
    _ difference: LiveEvents.Difference, reset: StoreError? = nil
  ) -> LiveEvents.Update {
    defer { generation += 1 }
    return LiveEvents.Update(
      generation: generation, token: token, events: list.events, count: Int64(list.events.count),
      next: nil, difference: difference, reset: reset)
  }
}

/// Keeps a window of a list up to date: the server selects it again after changes.
private struct WindowSource: ListSource {
  let follower: ReconnectingFollower
  private let query: EventQuery
  private var events: [EventRecord] = []
  private var count: Int64 = 0
  private var end: EventCursor?
  private(set) var generation = 0

  init(_ follower: ReconnectingFollower, _ query: EventQuery) {
    var query = query
    // The difference is told by the codes.
    if !query.columns.contains(.code) { query.columns.append(.code) }
    self.follower = follower
    self.query = query
  }

  /// Reads the window again if one of the changes can concern it.
  mutating func follow() throws -> LiveEvents.Update? {
    var concerns = false
    try follower.readToEnd { change in
      if change.op == .truncate || query.concerns(change) { concerns = true }
    }
    return concerns ? try load(because: nil) : nil
  }

  mutating func load(because reason: StoreError?) throws -> LiveEvents.Update? {
    var token = ChangeToken.beginning
    var page: EventPage?
    var count: Int64 = 0
    try follower.begin { connection in
      try connection.atOneMoment {
        try connection.planFreely()
        token = try HistoryReader.latestToken(over: connection)
        page = try query.page(over: connection)
        count = try query.count(over: connection)
      }
      return token
    }
    guard let page else { return nil }
    let difference = LiveEvents.Difference(from: events, to: page.events)
    if generation > 0, reason == nil, difference.isEmpty, count == self.count, page.next == end {
      return nil
    }
    events = page.events
    (self.count, end) = (count, page.next)
    defer { generation += 1 }
    return LiveEvents.Update(
      generation: generation, token: token, events: events, count: count, next: page.next,
      difference: difference, reset: reason)
  }
}

extension EventQuery {
  /// Whether a change can change the list: the event met the filter before it or meets it afterwards.
  fileprivate func concerns(_ change: Change) -> Bool {
    // An event that is inserted again leaves the deleted ones, which met the filter, whatever its values are now.
    if change.op == .insert, past.contains(.deleted) { return true }
    return change.old.map(filter.accepts) ?? false || change.new.map(filter.accepts) ?? false
  }
}

extension LiveEvents.Difference {
  /// The difference between two lists, by the events' codes. Of the events that both have, the most that are in the same
  /// order stay, and the others move.
  init(from old: [EventRecord], to new: [EventRecord]) {
    let places = Dictionary(
      old.enumerated().map { (EventCode($1.code ?? ""), $0) }, uniquingKeysWith: { $1 })
    let origins = new.map { places[EventCode($0.code ?? "")] }
    let staying = Set(origins.compactMap { $0 }.longestAscendingPart())
    deletions = old.indices.filter { !staying.contains($0) }
    for (index, origin) in origins.enumerated() {
      if let origin, staying.contains(origin) {
        if old[origin] != new[index] { modifications.append(index) }
      } else {
        insertions.append(index)
        if let origin { moves.append(Move(from: origin, to: index)) }
      }
    }
  }
}
