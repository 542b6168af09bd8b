extension Duration {
  /// The length in seconds.
  public var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }

  /// The length in whole milliseconds, rounded up and limited to the range of poll(2)'s timeout.
  public var pollTimeout: Int32 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < 2_000_000 else { return 2_000_000_000 }
    let milliseconds = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return Int32(seconds * 1_000 + milliseconds)
  }

  /// The length in whole milliseconds: less than one is dropped, and more than `Int64` can hold is its limit.
  public var wholeMilliseconds: Int64 { whole(unitsPerSecond: 1_000) }

  /// The length in whole microseconds: less than one is dropped, and more than `Int64` can hold is its limit.
  public var wholeMicroseconds: Int64 { whole(unitsPerSecond: 1_000_000) }

  private func whole(unitsPerSecond: Int64) -> Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: unitsPerSecond)
    let (sum, sumOverflow) = product.addingReportingOverflow(
      attoseconds / (1_000_000_000_000_000_000 / unitsPerSecond))
    return overflow || sumOverflow ? (seconds < 0 ? .min : .max) : sum
  }
}
