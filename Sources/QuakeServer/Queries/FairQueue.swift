/// A queue in which the owners of the elements take turns: one who adds many does not hold up the others.
struct FairQueue<Element> {
  private struct Line {
    var elements: [Element] = []
    /// How many at the beginning have been taken.
    var taken = 0
  }

  private var lines: [String: Line] = [:]
  /// The owners that have elements, in the order of their turns; the first `done` have had theirs.
  private var turns: [String] = []
  private var done = 0
  /// How many elements there are.
  private(set) var count = 0

  /// How many elements an owner has.
  func count(of owner: String) -> Int { lines[owner].map { $0.elements.count - $0.taken } ?? 0 }

  mutating func add(_ element: Element, of owner: String) {
    count += 1
    if lines[owner] == nil { turns.append(owner) }
    lines[owner, default: Line()].elements.append(element)
  }

  /// Takes the next element of the first owner in the order of turns that may have one now; nil if none may.
  mutating func take(where mayHave: (_ owner: String) -> Bool = { _ in true }) -> (
    element: Element, owner: String
  )? {
    guard let turn = turns[done...].firstIndex(where: mayHave) else { return nil }
    let owner = turns[turn]
    guard var line = lines.removeValue(forKey: owner) else { return nil }
    let element = line.elements[line.taken]
    line.taken += 1
    count -= 1
    if turn == done { done += 1 } else { turns.remove(at: turn) }
    if line.taken < line.elements.count {
      if line.taken == 1024 {
        line.elements.removeFirst(line.taken)
        line.taken = 0
      }
      lines[owner] = line
      turns.append(owner)
    }
    if done == 1024 || done == turns.count {
      turns.removeFirst(done)
      done = 0
    }
    return (element, owner)
  }
}
