/// Text with secrets masked.
package enum MaskedText {
  /// What takes the place of a secret.
  package static let mask = "***"

  /// A text without secrets. The longest is masked first, so that no part of one remains.
  package static func hide(_ secrets: [String], in text: String) -> String {
    let mask = Array(mask.utf8)
    let hidden = secrets.map { Array($0.utf8) }.filter { !$0.isEmpty && $0 != mask }
      .sorted { $0.count > $1.count }
    guard !hidden.isEmpty else { return text }
    let bytes = hidden.reduce(Array(text.utf8)) { text, secret in
      guard text.count >= secret.count else { return text }
      var result: [UInt8] = []
      var index = 0
      while index < text.count {
        if text[index] == secret[0], text[index...].starts(with: secret) {
          result += mask
          index += secret.count
        } else {
          result.append(text[index])
          index += 1
        }
      }
      return result
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
