extension RandomAccessCollection where Index == Int {
  /// The first index whose element does not satisfy the predicate; `endIndex` if all do. The elements that
  /// satisfy it must come first.
  func partition(_ comesBefore: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = low + (high - low) / 2
      if comesBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension [Int] {
  /// How many of these ascending numbers are less than `limit`.
  func count(below limit: Int) -> Int {
    partition { $0 < limit }
  }
}
