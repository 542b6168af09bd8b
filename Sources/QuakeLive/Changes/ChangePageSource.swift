internal import Postgres
internal import QuakeModel

/// Reads the changes that pass a filter, a page at a time, on demand.
struct ChangePageSource: PullSource {
  private let follower: ReconnectingFollower
  private let filter: QuakeFilter

  init(_ follower: ReconnectingFollower, filter: QuakeFilter) {
    self.follower = follower
    self.filter = filter
  }

  mutating func next() throws -> ChangeBatch? {
    while true {
      var changes: [Change] = []
      _ = try follower.readPage(waiting: true) { change in
        if filter.accepts(change) { changes.append(change) }
      }
      if !changes.isEmpty, let cursor = follower.cursor {
        return ChangeBatch(changes: changes, cursor: cursor)
      }
    }
  }

  mutating func pause() {
    follower.pause()
  }
}
