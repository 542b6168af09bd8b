import QuakeModel

/// The newest pages of the history, numbered in their order. The owner removes those that are beyond a number
/// of bytes.
struct ChangeWindow {
  /// Where a client continues.
  struct Place: Equatable {
    var page: Int
    var change: Int
  }

  /// Where a cursor is.
  enum Lookup: Equatable {
    /// In the window, or at its end.
    case at(Place)
    /// Not in the window: older, later, or of another history.
    case outside
  }

  private var pages: [EncodedPage] = []
  /// The number of the first page.
  private(set) var first = 0
  /// The size of all pages in bytes.
  private(set) var size = 0
  private let limit: Int
  /// Clients before this page are behind by more than three quarters of the window.
  private(set) var pressure = 0
  private var sizeFromPressure = 0
  /// The cursor before the first page, and after the last.
  private(set) var before, after: HistoryCursor

  /// An empty window of `limit` bytes, whose first page will have the number `number`.
  init(after cursor: HistoryCursor, limit: Int, number: Int = 0) {
    before = cursor
    after = cursor
    first = number
    pressure = number
    self.limit = limit
  }

  /// The number of the next page.
  var end: Int { first + pages.count }

  /// The page of a number from `first` to before `end`.
  subscript(number: Int) -> EncodedPage { pages[number - first] }

  mutating func append(_ page: EncodedPage) {
    pages.append(page)
    size += page.size
    after = page.after
    sizeFromPressure += page.size
    while sizeFromPressure > limit / 4 * 3, pressure < end - 1 {
      sizeFromPressure -= self[pressure].size
      pressure += 1
    }
  }

  /// The number of the first page that stays when those that are too old are removed.
  var firstToKeep: Int {
    var (number, left) = (first, size)
    while left > limit, end - number > 1 {
      left -= self[number].size
      number += 1
    }
    return number
  }

  mutating func remove(before number: Int) {
    while first < number {
      let oldest = pages.removeFirst()
      size -= oldest.size
      before = oldest.after
      first += 1
    }
  }

  func cursor(at place: Place) -> HistoryCursor {
    place.page < end ? self[place.page].cursor(before: place.change) : after
  }

  /// Finds a cursor. One that is found is of this history: the window has the same token.
  func find(_ cursor: HistoryCursor) -> Lookup {
    if cursor == after { return .at(Place(page: end, change: 0)) }
    let number = cursor.token.number
    guard end > first, number <= after.token.number else { return .outside }
    // Within the transaction in which the window begins, the changes before it are not known.
    if number == before.token.number {
      guard cursor.token == before.token else { return .outside }
      if before.changes == 0 {
        guard cursor.changes == 0 else { return .outside }
      } else if cursor.changes != 0 {
        guard cursor.changes >= before.changes else { return .outside }
      }
      if cursor == before { return .at(Place(page: first, change: 0)) }
    } else if number < before.token.number {
      return .outside
    }
    // The first page with a change after the cursor.
    var (low, high) = (first, end)
    while low < high {
      let middle = (low + high) / 2
      if let last = self[middle].changes.last, !cursor.isBefore(last) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    let place: Place
    if low < end {
      let changes = self[low].changes
      var (from, to) = (0, changes.count)
      while from < to {
        let middle = (from + to) / 2
        if cursor.isBefore(changes[middle]) { to = middle } else { from = middle + 1 }
      }
      place = Place(page: low, change: from)
    } else {
      place = Place(page: end, change: 0)
    }
    return isOfThisHistory(cursor, at: place) ? .at(place) : .outside
  }

  /// Whether the change before a position is the one that the cursor names.
  private func isOfThisHistory(_ cursor: HistoryCursor, at place: Place) -> Bool {
    let found = self.cursor(
      at: place.change == 0 && place.page > first
        ? Place(page: place.page - 1, change: self[place.page - 1].count) : place)
    guard found.token == cursor.token else { return false }
    return found.changes == cursor.changes
  }
}
