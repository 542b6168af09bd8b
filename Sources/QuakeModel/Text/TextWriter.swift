internal import Glibc

/// Writes text with numbers and instants to a byte buffer that its owner empties.
///
/// No value costs an allocation. CSV and XML are written with it, and `JSONWriter` writes with it.
public struct TextWriter: Sendable {
  /// All bytes are initialised; the first ones have been written. Appending to an array would check for each
  /// byte whether the array is shared and large enough.
  private var storage: [UInt8] = []
  /// How many bytes have been written since the buffer was emptied.
  public private(set) var count = 0

  /// An empty buffer.
  public init() {}

  /// Calls `body` with what has been written so far.
  public func withBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  /// A copy of what has been written so far.
  var contents: [UInt8] { Array(storage[..<count]) }

  /// Empties the buffer; keeps the memory.
  public mutating func removeAll() { count = 0 }

  /// Empties the buffer, and returns its contents with the memory.
  mutating func take() -> [UInt8] {
    storage.removeLast(storage.count - count)
    defer { (storage, count) = ([], 0) }
    return storage
  }

  /// Writes a byte.
  public mutating func byte(_ value: UInt8) {
    write(atMost: 1) { place in
      place.pointee = value
      return place + 1
    }
  }

  /// Writes text that is known at compile time.
  public mutating func literal(_ text: StaticString) {
    let size = text.utf8CodeUnitCount
    write(atMost: size) { place in
      place.update(from: text.utf8Start, count: size)
      return place + size
    }
  }

  /// Writes text unchanged.
  public mutating func text(_ value: String) {
    var value = value
    value.withUTF8 { bytes(UnsafeRawBufferPointer($0)) }
  }

  /// Writes bytes unchanged.
  public mutating func bytes(_ value: UnsafeRawBufferPointer) {
    guard let start = value.baseAddress else { return }
    write(atMost: value.count) { place in
      UnsafeMutableRawPointer(place).copyMemory(from: start, byteCount: value.count)
      return place + value.count
    }
  }

  /// Writes an integer.
  public mutating func integer(_ value: Int) {
    write(atMost: DecimalText.longest) { DecimalText.put(value, $0) }
  }

  /// Writes a finite number with the fewest digits that parse to the same double.
  public mutating func double(_ value: Double) {
    write(atMost: DecimalText.longest) { DecimalText.put(value, $0) }
  }

  /// Writes a finite number times 1000, by moving the decimal point of its digits three places right. So a
  /// depth in metres has exactly the digits of the depth in kilometres.
  public mutating func thousandfold(_ value: Double) {
    if let whole = Int(exactly: value), whole.magnitude < 1_000_000_000_000 {
      return integer(whole * 1000)
    }
    let start = count
    double(value)
    let written = count - start
    count = storage.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return start }
      return start + Self.shiftPoint(of: base + start, count: written)
    }
  }

  /// Moves the decimal point of a number's digits three places to the right; returns the new length. The
  /// buffer has memory for three more bytes.
  private static func shiftPoint(of text: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
    let digits = UnsafeMutableBufferPointer(start: text, count: count)
    let exponent = digits.firstIndex { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
    if let exponent {
      // Only numbers that are very large or very small.
      let power = Int(String(decoding: digits[(exponent + 1)...], as: UTF8.self)) ?? 0
      return DecimalText.put(power + 3, text + exponent + 1) - text
    }
    guard let point = digits.firstIndex(of: UInt8(ascii: ".")) else {
      for offset in 0..<3 { text[count + offset] = 0x30 }
      return count + 3
    }
    let decimals = count - point - 1
    var end = count
    for place in point..<(point + 3) {
      text[place] = place + 1 < count ? text[place + 1] : 0x30
    }
    if decimals <= 3 {
      end = point + 3
    } else {
      text[point + 3] = UInt8(ascii: ".")
    }
    // Zeros that were decimals are now in front: 0.0123 has become 0012.3.
    var first = text[0] == UInt8(ascii: "-") ? 1 : 0
    let sign = first
    while first + 1 < end, text[first] == 0x30, text[first + 1] != UInt8(ascii: ".") { first += 1 }
    guard first > sign else { return end }
    for place in first..<end { text[sign + place - first] = text[place] }
    return end - (first - sign)
  }

  /// Writes an instant as ISO 8601 in UTC, with milliseconds, or microseconds if needed.
  ///
  /// - Parameter isZoned: Whether the text ends with `Z`.
  public mutating func timestamp(_ value: Timestamp, isZoned: Bool = true) {
    write(atMost: Timestamp.longestText) { place in
      let end = value.put(place)
      return isZoned ? end : end - 1
    }
  }

  /// Calls `body` with memory for `size` bytes; it returns the end of what it has written.
  @inline(__always)
  mutating func write(
    atMost size: Int, _ body: (UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>
  ) {
    if storage.count - count < size + 8 { grow(by: size + 8) }
    let start = count
    count = storage.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return start }
      return body(base + start) - base
    }
  }

  private mutating func grow(by size: Int) {
    let needed = max(count + size, storage.count * 2, 256)
    storage = [UInt8](unsafeUninitializedCapacity: needed) { larger, initialized in
      guard let start = larger.baseAddress else { return }
      storage.withUnsafeBufferPointer { written in
        if let old = written.baseAddress { start.update(from: old, count: count) }
      }
      // Not element by element, which takes long where the compiler does not optimise.
      memset(start + count, 0, needed - count)
      initialized = needed
    }
  }
}
