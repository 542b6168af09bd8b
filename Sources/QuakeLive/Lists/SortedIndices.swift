extension RandomAccessCollection where Index == Int {
  /// The first index whose element does not come before what is looked for; `endIndex` if all do. The
  /// elements that do must come first.
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
  /// How many of these numbers, which ascend, are less than `limit`.
  func count(below limit: Int) -> Int {
    partition { $0 < limit }
  }
}
