/// Numbers in decimal digits.
enum DecimalText {
  /// No number takes more bytes than this.
  static let longest = 32

  /// Puts an integer; returns where it ends.
  static func put(
    _ value: Int, _ place: UnsafeMutablePointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8> {
    var end = place
    if value < 0 { QuakeModel.put(0x2D, &end) }
    return put(value.magnitude, digits: digits(of: value.magnitude), end)
  }

  /// Puts a finite number with as few digits as give the same double back; returns where it ends.
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

  /// Most numbers of a catalogue have a few decimals. Below 2^53 an integer and a power of ten are
  /// doubles themselves, and their quotient is rounded correctly: if it is the number, these digits
  /// give it back, and with at most 15 of them there is no second way to write it as short.
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

  /// Puts the last `digits` digits of a number, with zeros before it if it has fewer.
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
