internal import Postgres
internal import QuakeHistory
internal import QuakeModel

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
