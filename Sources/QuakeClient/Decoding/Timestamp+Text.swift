internal import QuakeModel

extension Timestamp {
  /// Microseconds in 400 years, after which the calendar repeats itself.
  private static let cycle: Int64 = 146_097 * 86_400_000_000

  /// Reads what `description` writes, of any year: those that a feed may not contain have a sign and six digits.
  init?(written bytes: UnsafeRawBufferPointer) {
    if let value = Timestamp(iso8601: bytes) {
      self = value
      return
    }
    var text = String(decoding: bytes, as: UTF8.self)
    let length = text.hasPrefix("+") || text.hasPrefix("-") ? 7 : 4
    guard text.utf8.count > length, let year = Int64(text.prefix(length)) else { return nil }
    // The same day in a year of the present cycle.
    let cycles = (year - 2000).quotientRoundedDown(by: 400)
    text = "\(year - cycles * 400)" + text.dropFirst(length)
    guard let value = Timestamp(iso8601: text) else { return nil }
    let (distance, isTooFar) = cycles.multipliedReportingOverflow(by: Self.cycle)
    let (microseconds, isOutside) = value.microseconds.addingReportingOverflow(distance)
    guard !isTooFar, !isOutside else { return nil }
    self.init(microseconds: microseconds)
  }
}

extension Int64 {
  fileprivate func quotientRoundedDown(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
