/// What leads from one list of events to the next, by index.
///
/// To turn the old list into the new one, in this order:
/// 1. remove what is at `deletions`: indices in the **old** list, ascending; begin with the last;
/// 2. insert what the new list has at `insertions`: indices in the **new** list, ascending; begin with
///    the first;
/// 3. replace what is at `modifications`: indices in the **new** list, ascending.
///
/// This is the order of batch updates in views, and of the standard library's `CollectionDifference`
/// (removals, then insertions). `apply(to:taking:)` does it. An index is in each array at most once.
public struct QuakeDifference: Sendable, Equatable {
  /// An event that has changed and has another place in the order for it.
  public struct Move: Sendable, Equatable {
    /// Its index in the old list.
    public let from: Int
    /// Its index in the new list.
    public let to: Int
  }

  /// Events that are not in the new list, and those that have moved: indices in the old list.
  public internal(set) var deletions: [Int] = []
  /// Events that were not in the old list, and those that have moved: indices in the new list.
  public internal(set) var insertions: [Int] = []
  /// Events that have other values, and not another place between those that stay: indices in the new
  /// list.
  public internal(set) var modifications: [Int] = []
  /// Which of the deletions and insertions are one and the same event, by the new index; for views that
  /// show the way. What need not be shown so can be left at deletion and insertion.
  public internal(set) var moves: [Move] = []

  /// Whether there is none.
  public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

  /// Turns the old list into the new one, element by element.
  ///
  /// - Parameters:
  ///   - list: What was made of the old list, an element for each event.
  ///   - element: Makes the element for an index in the new list.
  public func apply<Element>(to list: inout [Element], taking element: (Int) throws -> Element)
    rethrows
  {
    for index in deletions.reversed() { list.remove(at: index) }
    for index in insertions { list.insert(try element(index), at: index) }
    for index in modifications { list[index] = try element(index) }
  }
}
