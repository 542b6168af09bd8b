/// Parts of the text that describes a place, such as `6 km SSW of Pāhala, Hawaii`.
///
/// The functions `quake.locality` and `quake.region` of the database are compared with these.
package enum PlaceName {
  /// The place without the distance and direction in front of it: `Pāhala, Hawaii`. Spaces and commas around
  /// it are removed. Nil if nothing is left.
  ///
  /// Distance and direction are a number, with or without decimals; `km` or `mi`; one to three of the letters
  /// N, S, E and W; and `of`. Spaces part them; there may be none between number and unit.
  package static func locality(_ place: String) -> String? {
    var rest = trimmed(place.utf8[...])
    if let end = afterDistance(rest) { rest = rest[end...] }
    return rest.isEmpty ? nil : String(Substring(rest))
  }

  /// The part of the locality after its last comma, such as `Hawaii`; without a comma, all of it. Nil if
  /// there is none.
  package static func region(_ place: String) -> String? {
    guard let locality = locality(place) else { return nil }
    let bytes = locality.utf8
    let start = bytes.lastIndex(of: comma).map { bytes.index(after: $0) } ?? bytes.startIndex
    return String(Substring(bytes[start...].drop { $0 == space }))
  }

  private static let space = UInt8(ascii: " ")
  private static let comma = UInt8(ascii: ",")

  private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
    var text = text.drop { $0 == space || $0 == comma }
    while let last = text.last, last == space || last == comma { text.removeLast() }
    return text
  }

  /// Where the distance and direction at the beginning of a text end, if there are some.
  private static func afterDistance(_ text: Substring.UTF8View) -> String.Index? {
    var rest = text
    func skip(_ most: Int = .max, _ matches: (UInt8) -> Bool) -> Int {
      var count = 0
      while count < most, let first = rest.first, matches(first) {
        rest.removeFirst()
        count += 1
      }
      return count
    }
    func skip(_ letter: Unicode.Scalar) -> Bool {
      skip(1) { $0 | 0x20 == UInt8(ascii: letter) } == 1
    }
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    func isSpace(_ byte: UInt8) -> Bool { byte == space }
    guard skip(.max, isDigit) > 0 else { return nil }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard skip(.max, isDigit) > 0 else { return nil }
    }
    _ = skip(.max, isSpace)
    guard skip("k") ? skip("m") : skip("m") && skip("i"), skip(.max, isSpace) > 0,
      skip(3, { "NSEW".utf8.contains($0) }) > 0, skip(.max, isSpace) > 0,
      rest.starts(with: "of ".utf8)
    else { return nil }
    rest.removeFirst(2)
    _ = skip(.max, isSpace)
    return rest.startIndex
  }
}
