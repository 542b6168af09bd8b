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
    // With seven decimals, fewer ones end in zeros. The product is so close to that integer that half of one
    // more, cut off, is the integer.
    let digits = UInt(magnitude * 10_000_000 + 0.5)
    guard Double(digits) / 10_000_000 == magnitude else { return nil }
    let whole = digits / 10_000_000
    var fraction = digits % 10_000_000
    var decimals = 7
    func strip(_ zeros: Int, _ power: UInt) {
      guard fraction % power == 0 else { return }
      fraction /= power
      decimals -= zeros
    }
    strip(4, 10_000)
    strip(2, 100)
    strip(1, 10)
    var end = place
    if value < 0 { QuakeModel.put(0x2D, &end) }
    end = put(whole, digits: self.digits(of: whole), end)
    QuakeModel.put(0x2E, &end)
    return put(fraction, digits: decimals, end)
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

  /// Writes a number below 100 with two digits.
  @inline(__always)
  static func putPair(_ value: Int, _ end: inout UnsafeMutablePointer<UInt8>) {
    let value = UInt32(truncatingIfNeeded: value)
    let tens = value / 10
    end[0] = UInt8(truncatingIfNeeded: 0x30 + tens)
    end[1] = UInt8(truncatingIfNeeded: 0x30 + value - tens * 10)
    end += 2
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
