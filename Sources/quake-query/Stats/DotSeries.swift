/// Values at ascending steps of an axis, in bounded memory: when there are too many steps, two neighbours
/// become one, again and again.
struct DotSeries {
  /// A value, and the number of events in it.
  struct Bucket {
    var value = 0.0
    var weight = 0.0
  }

  /// Whether the value of several steps is their sum; else it is their average by weight.
  private let adds: Bool
  private(set) var buckets: [Bucket] = []
  private var first: Int?
  /// How often neighbours have been joined.
  private var joins = 0

  private static let most = 4096

  init(adds: Bool) {
    self.adds = adds
  }

  mutating func add(_ value: Double, weight: Double, at step: Int) {
    let start = first ?? step
    first = start
    while (step - start) >> joins >= Self.most { join() }
    let index = (step - start) >> joins
    while buckets.count <= index { buckets.append(Bucket()) }
    buckets[index] = sum(buckets[index], Bucket(value: value, weight: weight))
  }

  private mutating func join() {
    buckets = stride(from: 0, to: buckets.count, by: 2).map { index in
      index + 1 < buckets.count ? sum(buckets[index], buckets[index + 1]) : buckets[index]
    }
    joins += 1
  }

  private func sum(_ left: Bucket, _ right: Bucket) -> Bucket {
    let weight = left.weight + right.weight
    guard !adds else { return Bucket(value: left.value + right.value, weight: weight) }
    guard weight > 0 else { return left }
    return Bucket(
      value: (left.value * left.weight + right.value * right.weight) / weight, weight: weight)
  }

  /// The values in `count` columns of equal width, or fewer if there are fewer steps.
  func columns(_ count: Int) -> [Double] {
    guard buckets.count > count else { return buckets.map(\.value) }
    return (0..<count).map { column in
      let range = (column * buckets.count / count)..<((column + 1) * buckets.count / count)
      return buckets[range].reduce(Bucket()) { sum($0, $1) }.value
    }
  }
}
