/// Writes numbers in decimal digits.
enum DecimalText {
  /// The most bytes of a number.
  static let longest = 32

  /// Writes an integer, and returns its end.
  static func put(
    _ value: Int, _ place: UnsafeMutablePointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8> {
    var end = place
    if value < 0 { QuakeModel.put(0x2D, &end) }
    return put(value.magnitude, digits: digits(of: value.magnitude), end)
  }

  /// Writes a finite number with the fewest digits that parse to the same double, and returns its end.
  static func put(
    _ value: Double, _ place: UnsafeMutablePointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8> {
    if let whole = Int(exactly: value), whole.magnitude < 1_000_000_000_000_000 {
      return put(whole, place)
    }
    if let end = putWithFewDecimals(value, place) { return end }
    var end = place
    for byte in value.description.utf8 { QuakeModel.put(byte, &end) }
    return end
  }

  /// A fast way for numbers with few decimals, as most in a catalogue are. An integer below 2^53 and a power
  /// of ten are exact doubles, and their quotient is correctly rounded: if it equals the number, these digits
  /// parse to it. With at most 15 digits, no other text is as short.
  private static func putWithFewDecimals(
    _ value: Double, _ place: UnsafeMutablePointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8>? {
    let magnitude = value.magnitude
    guard magnitude < 100_000_000, magnitude >= 0.001 else { return nil }
    var power = 1.0
    for decimals in 1...7 {
      power *= 10
      let scaled = (magnitude * power).rounded()
      guard scaled / power == magnitude else { continue }
      let digits = UInt(scaled)
      let whole = digits / UInt(power)
      var end = place
      if value < 0 { QuakeModel.put(0x2D, &end) }
      end = put(whole, digits: self.digits(of: whole), end)
      QuakeModel.put(0x2E, &end)
      return put(digits - whole * UInt(power), digits: decimals, end)
    }
    return nil
  }

  /// Writes the last `digits` digits of a number, padded with zeros.
  static func put(
    _ value: UInt, digits: Int, _ place: UnsafeMutablePointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8> {
    var rest = value
    for index in stride(from: digits - 1, through: 0, by: -1) {
      let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
      place[index] = 0x30 + UInt8(truncatingIfNeeded: remainder)
      rest = quotient
    }
    return place + digits
  }

  private static func digits(of value: UInt) -> Int {
    var count = 1
    var limit: UInt = 10
    while value >= limit {
      count += 1
      guard count < 20 else { break }
      limit *= 10
    }
    return count
  }
}
