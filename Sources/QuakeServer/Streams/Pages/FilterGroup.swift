import QuakeModel

/// The clients that have the same filter, which is evaluated once for all of them.
final class FilterGroup {
  /// Which changes of a page pass.
  enum Acceptance {
    case none
    case all
    /// One bit for each change.
    case some([UInt64])

    /// The first change from `index` on that passes; `count` if none does.
    func next(from index: Int, of count: Int) -> Int {
      switch self {
      case .none: return count
      case .all: return index
      case .some(let bits):
        var index = index
        while index < count, bits[index / 64] & (1 << UInt64(index % 64)) == 0 { index += 1 }
        return index
      }
    }

    /// The end of the changes that pass, from one on that does.
    func end(from index: Int, of count: Int) -> Int {
      switch self {
      case .none: return index
      case .all: return count
      case .some(let bits):
        var index = index
        while index < count, bits[index / 64] & (1 << UInt64(index % 64)) != 0 { index += 1 }
        return index
      }
    }
  }

  let filter: QuakeFilter
  /// How many clients it has.
  var clients = 0
  private let passesAll: Bool
  /// The results for the latest pages, by the number of the page.
  private var known: [(page: Int, acceptance: Acceptance)] = []
  private static let most = 16

  init(_ filter: QuakeFilter) {
    self.filter = filter
    passesAll = filter == QuakeFilter()
  }

  /// Which changes of a page pass.
  func acceptance(of page: EncodedPage, number: Int) -> Acceptance {
    if passesAll { return .all }
    if known.isEmpty { known = Array(repeating: (-1, .none), count: Self.most) }
    let index = number % Self.most
    if known[index].page == number { return known[index].acceptance }
    let acceptance = evaluate(page)
    known[index] = (number, acceptance)
    return acceptance
  }

  /// Forgets what it knows, because the numbers now belong to other pages.
  func forget() { known = [] }

  private func evaluate(_ page: EncodedPage) -> Acceptance {
    var bits = [UInt64](repeating: 0, count: (page.count + 63) / 64)
    var passed = 0
    for (index, change) in page.changes.enumerated() where filter.accepts(change) {
      bits[index / 64] |= 1 << UInt64(index % 64)
      passed += 1
    }
    if passed == 0 { return .none }
    return passed == page.count ? .all : .some(bits)
  }
}
