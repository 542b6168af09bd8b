internal import Postgres
internal import QuakeModel

/// Pages of the history that pass a filter, as they are asked for.
struct ChangeSource: PullSource {
  private let follower: HistoryFollower
  private let filter: QuakeFilter

  init(_ follower: HistoryFollower, filter: QuakeFilter) {
    self.follower = follower
    self.filter = filter
  }

  mutating func next() throws -> ChangeBatch? {
    while true {
      var changes: [Change] = []
      _ = try follower.readPage(waiting: true) { change in
        if filter.accepts(change) { changes.append(change) }
      }
      if !changes.isEmpty, let place = follower.place {
        return ChangeBatch(changes: changes, place: place)
      }
    }
  }

  mutating func rest() {
    follower.rest()
  }
}
