/// Text with secrets masked.
package enum MaskedText {
  /// What takes the place of a secret.
  package static let mask = "***"

  /// Masks each place of a secret at once. So no part of one remains where places overlap, and no mask is masked again,
  /// with which a few secrets of one asterisk would make a short text too long for the memory.
  package static func hide(_ secrets: some Sequence<String>, in text: String) -> String {
    let known = Set(secrets).filter { $0 != mask && !$0.isEmpty }.map { Array($0.utf8) }
    guard !known.isEmpty else { return text }
    let beginnings = Dictionary(grouping: known) { $0[0] }
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    // Up to where the bytes belong to a secret.
    var end = 0
    for (index, byte) in bytes.enumerated() {
      let length = beginnings[byte, default: []].lazy
        .filter { bytes[index...].starts(with: $0) }.map(\.count).max()
      if let length {
        if index >= end { result += mask.utf8 }
        end = max(end, index + length)
      } else if index >= end {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
