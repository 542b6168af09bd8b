internal import QuakeModel

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
public struct ListDifference: Hashable, Sendable {
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

extension ListDifference {
  /// The difference between two short lists, by the events' codes.
  init(from old: [EventRecord], to new: [EventRecord]) {
    let oldCodes = old.map { $0.code ?? "" }
    let newCodes = new.map { $0.code ?? "" }
    let steps = newCodes.difference(from: oldCodes).inferringMoves()
    for case .remove(let offset, _, _) in steps.removals { deletions.append(offset) }
    for case .insert(let offset, _, let origin) in steps.insertions {
      insertions.append(offset)
      if let origin { moves.append(Move(from: origin, to: offset)) }
    }
    deletions.sort()
    let inserted = Set(insertions)
    let places = Dictionary(zip(oldCodes, old.indices)) { $1 }
    for (index, code) in newCodes.enumerated() where !inserted.contains(index) {
      if let place = places[code], old[place] != new[index] { modifications.append(index) }
    }
  }
}
