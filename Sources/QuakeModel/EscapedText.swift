/// The contents of a JSON string.
enum EscapedText {
  /// Puts UTF-8 with quotes, backslashes and control characters escaped; up to six bytes for one.
  static func put(_ text: UnsafeRawBufferPointer, _ end: inout UnsafeMutablePointer<UInt8>) {
    guard let start = text.baseAddress else { return }
    let count = text.count
    var index = 0
    while index < count {
      // Eight bytes at a time, as long as none of them needs more.
      while index + 8 <= count {
        let word = start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        guard !holdsSpecial(word) else { break }
        UnsafeMutableRawPointer(end).storeBytes(of: word, as: UInt64.self)
        index += 8
        end += 8
      }
      // Then one by one, to the end of a word at least.
      for _ in 0..<8 where index < count {
        escape(text[index], &end)
        index += 1
      }
    }
  }

  /// Whether one of eight bytes is a quote, a backslash or below a space. It may say so for a byte
  /// above a special one, never too little.
  private static func holdsSpecial(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    func holdsZero(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highs }
    let control = (word &- ones &* 0x20) & ~word & highs
    return control | holdsZero(word ^ (ones &* 0x22)) | holdsZero(word ^ (ones &* 0x5C)) != 0
  }

  private static func escape(_ byte: UInt8, _ end: inout UnsafeMutablePointer<UInt8>) {
    guard byte < 0x20 || byte == 0x22 || byte == 0x5C else {
      return QuakeModel.put(byte, &end)
    }
    QuakeModel.put(0x5C, &end)
    switch byte {
    case 0x22, 0x5C: QuakeModel.put(byte, &end)
    case 0x0A: QuakeModel.put(0x6E, &end)
    case 0x0D: QuakeModel.put(0x72, &end)
    case 0x09: QuakeModel.put(0x74, &end)
    default:
      let low = byte & 0x0F
      for character in [0x75, 0x30, 0x30, 0x30 + (byte >> 4), low < 10 ? 0x30 + low : 0x57 + low] {
        QuakeModel.put(character, &end)
      }
    }
  }
}
