extension Duration {
  private static let units: [(name: String, nanoseconds: Int64)] = [
    ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000),
    ("s", 1_000_000_000), ("ms", 1_000_000),
  ]

  /// Reads `500ms`, `60s`, `5m`, `1h`, `2d`, `1h30m`, `1.5s`; a bare number means seconds.
  ///
  /// At most four decimals are accepted. Nil if the text has any other form, is negative, or exceeds 292
  /// years, the largest number of nanoseconds in 64 bits.
  package init?(text: String) {
    var rest = text.utf8[...]
    var total: Int64 = 0
    var previousUnit = Int64.max
    repeat {
      let whole = Self.digits(&rest)
      var fraction: Substring.UTF8View?
      if rest.first == UInt8(ascii: ".") {
        rest = rest.dropFirst()
        fraction = Self.digits(&rest)
      }
      let letters = rest.prefix { (0x61...0x7A).contains($0) }
      rest = rest[letters.endIndex...]
      let isBareNumber = letters.isEmpty && rest.isEmpty && previousUnit == .max
      let unitName = isBareNumber ? "s" : String(Substring(letters))
      guard let unit = Self.units.first(where: { $0.name == unitName })?.nanoseconds,
        unit < previousUnit,  // larger units first, each once
        let count = Int64(String(Substring(whole)))
      else { return nil }
      previousUnit = unit
      let (product, productOverflow) = count.multipliedReportingOverflow(by: unit)
      let (sum, sumOverflow) = total.addingReportingOverflow(product)
      guard !productOverflow, !sumOverflow else { return nil }
      total = sum
      if let fraction {
        // Four digits of a day in nanoseconds still fit.
        guard (1...4).contains(fraction.count), let parts = Int64(String(Substring(fraction)))
        else { return nil }
        let scale = [10, 100, 1_000, 10_000][fraction.count - 1] as Int64
        let (sum, overflow) = total.addingReportingOverflow(parts * unit / scale)
        guard !overflow else { return nil }
        total = sum
      }
    } while !rest.isEmpty
    self = .nanoseconds(total)
  }

  /// The shortest form that ``init(text:)`` reads back: `1h30m`, `500ms`, `0s`.
  ///
  /// Exact down to a millisecond; less than that is dropped.
  package var text: String {
    let (seconds, attoseconds) = components
    let parts: [(Int64, String)] = [
      (seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"),
      (seconds % 60, "s"), (attoseconds / 1_000_000_000_000_000, "ms"),
    ]
    let shown = parts.filter { $0.0 != 0 }.map { "\($0.0)\($0.1)" }
    return shown.isEmpty ? "0s" : shown.joined()
  }

  private static func digits(_ rest: inout Substring.UTF8View) -> Substring.UTF8View {
    let digits = rest.prefix { (0x30...0x39).contains($0) }
    rest = rest[digits.endIndex...]
    return digits
  }
}

/// A number of bytes as a person writes it.
package enum ByteSize {
  private static let units: [(name: String, bytes: Int)] = [
    ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
  ]

  /// Reads `500MiB` and `2GiB`; a bare number means bytes. Nil if the text has any other form, or the number does not fit
  /// into 64 bits.
  package static func bytes(_ text: String) -> Int? {
    let unit = units.first { text.lowercased().hasSuffix($0.name.lowercased()) }
    let digits = text.dropLast(unit?.name.count ?? 0)
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(digits) else {
      return nil
    }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit?.bytes ?? 1)
    return overflow ? nil : bytes
  }

  /// The shortest form that `bytes(_:)` reads back: `256MiB`.
  package static func text(_ bytes: Int) -> String {
    let unit = units.first { bytes >= $0.bytes && bytes % $0.bytes == 0 }
    return "\(bytes / (unit?.bytes ?? 1))\(unit?.name ?? "B")"
  }
}
