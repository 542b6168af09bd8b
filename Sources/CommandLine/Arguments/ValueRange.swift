/// A range that an option's value must lie in: `1...`, `...10` or `1...10`.
public protocol ValueRange<Bound> {
  /// The type of the values.
  associatedtype Bound: Comparable
  /// The least accepted value, if there is one.
  var least: Bound? { get }
  /// The greatest accepted value, if there is one.
  var greatest: Bound? { get }
}

extension ValueRange {
  func contains(_ value: Bound) -> Bool {
    if let least, value < least { return false }
    if let greatest, value > greatest { return false }
    return true
  }

  /// The range in words, for an error message.
  func text(_ describe: (Bound) -> String) -> String {
    switch (least, greatest) {
    case (let least?, let greatest?): "from \(describe(least)) to \(describe(greatest))"
    case (let least?, nil): "\(describe(least)) or more"
    case (nil, let greatest?): "at most \(describe(greatest))"
    case (nil, nil): "any"
    }
  }
}

extension ClosedRange: ValueRange {
  /// The lower bound.
  public var least: Bound? { lowerBound }
  /// The upper bound.
  public var greatest: Bound? { upperBound }
}

extension PartialRangeFrom: ValueRange {
  /// The lower bound.
  public var least: Bound? { lowerBound }
  /// Nothing.
  public var greatest: Bound? { nil }
}

extension PartialRangeThrough: ValueRange {
  /// Nothing.
  public var least: Bound? { nil }
  /// The upper bound.
  public var greatest: Bound? { upperBound }
}
