internal import Postgres
internal import QuakeHistory
internal import QuakeModel
internal import QuakeQuery

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
