import Glibc

/// Text of XML.
enum XMLText {
  /// Whether bytes are a word. Called for each element and attribute, so without a loop over bytes.
  static func isEqual(_ word: StaticString, _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard word.utf8CodeUnitCount == bytes.count, let start = bytes.baseAddress else { return false }
    return memcmp(word.utf8Start, start, bytes.count) == 0
  }

  /// The text without the spaces and line breaks around it.
  static func trimmed(_ text: [UInt8]) -> [UInt8] {
    func isSpace(_ byte: UInt8) -> Bool {
      byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }
    guard let first = text.first, let last = text.last else { return text }
    guard isSpace(first) || isSpace(last) else { return text }
    guard let begin = text.firstIndex(where: { !isSpace($0) }),
      let end = text.lastIndex(where: { !isSpace($0) })
    else { return [] }
    return Array(text[begin...end])
  }
}
