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
