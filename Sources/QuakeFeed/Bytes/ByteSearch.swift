// The standard library's own search needs the regular expression engine, which would be linked into
// every tool.

extension Collection<UInt8> {
  /// Where `text` begins for the first time, or nil.
  func firstIndex(ofBytes text: String) -> Index? {
    indices.first { self[$0...].starts(with: text.utf8) }
  }

  /// Whether `text` occurs.
  func hasBytes(_ text: String) -> Bool { firstIndex(ofBytes: text) != nil }
}
