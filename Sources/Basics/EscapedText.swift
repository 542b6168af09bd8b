/// Escapes the contents of JSON strings.
///
/// It escapes the characters that JSON requires, and each ``HiddenCharacter``, so that a line of JSON is
/// harmless on a terminal. A JSON parser restores the original text. Bytes that are not UTF-8 become U+FFFD.
package enum EscapedText {
  /// The most memory that `put` needs for a number of bytes: six for each, and a word at the end.
  package static func capacity(for count: Int) -> Int { count * 6 + 8 }

  /// Writes escaped UTF-8. The memory must have the size that `capacity` returns.
  package static func put(
    _ text: UnsafeRawBufferPointer, _ end: inout UnsafeMutablePointer<UInt8>
  ) {
    guard let start = text.baseAddress else { return }
    let count = text.count
    var index = 0
    while true {
      // Eight bytes at a time, until one of them needs an escape.
      while index + 8 <= count {
        let word = start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        guard !holdsSpecial(word) else { break }
        UnsafeMutableRawPointer(end).storeBytes(of: word, as: UInt64.self)
        index += 8
        end += 8
      }
      let rest = count - index
      if rest < 8 {
        // The excess bytes of the word are overwritten.
        let word = lastWord(start + index, rest)
        guard holdsSpecial(word) else {
          UnsafeMutableRawPointer(end).storeBytes(of: word, as: UInt64.self)
          end += rest
          return
        }
      }
      // One by one, at least to the end of the word.
      let next = min(index + 8, count)
      while index < next {
        let byte = text[index]
        if byte < 0x80 {
          escape(byte, &end)
          index += 1
        } else {
          index += putCharacter(text, at: index, &end)
        }
      }
      if index == count { return }
    }
  }

  /// Loads up to seven bytes, padded with spaces, because most texts are short.
  private static func lastWord(_ start: UnsafeRawPointer, _ count: Int) -> UInt64 {
    let spaces: UInt64 = 0x2020_2020_2020_2020
    func byte(_ offset: Int) -> UInt64 {
      UInt64(start.load(fromByteOffset: offset, as: UInt8.self))
    }
    func half(_ offset: Int) -> UInt64 {
      UInt64(UInt32(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }
    let word: UInt64
    if count >= 4 {
      // The two halves may overlap.
      word = half(0) | half(count - 4) << UInt64((count - 4) * 8)
    } else if count > 0 {
      word =
        byte(0) | byte(count / 2) << UInt64(count / 2 * 8) | byte(count - 1)
        << UInt64((count - 1) * 8)
    } else {
      word = 0
    }
    return (word | spaces << UInt64(count * 8)).littleEndian
  }

  package static func quoted(_ text: String) -> String {
    var text = text
    return text.withUTF8 { utf8 in
      String(unsafeUninitializedCapacity: capacity(for: utf8.count) + 2) { buffer in
        guard let start = buffer.baseAddress else { return 0 }
        var end = start
        append(0x22, &end)
        put(UnsafeRawBufferPointer(utf8), &end)
        append(0x22, &end)
        return end - start
      }
    }
  }

  /// Whether one of eight bytes is a quote, a backslash, below a space, or above a tilde. It may return true
  /// for a byte next to a special one, but never false for a special one.
  private static func holdsSpecial(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    // The highest bit of each byte is set for special characters and for non-ASCII ones.
    let special =
      (word &- ones &* 0x20) | ((word ^ (ones &* 0x22)) &- ones) | ((word ^ (ones &* 0x5C)) &- ones)
      | (word &+ ones) | word
    return special & highs != 0
  }

  private static func escape(_ byte: UInt8, _ end: inout UnsafeMutablePointer<UInt8>) {
    guard byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F else {
      return append(byte, &end)
    }
    switch byte {
    case 0x22, 0x5C: putPair(byte, &end)
    case 0x0A: putPair(0x6E, &end)
    case 0x0D: putPair(0x72, &end)
    case 0x09: putPair(0x74, &end)
    default: putCode(UInt32(byte), &end)
    }
  }

  /// Writes the character that begins at a non-ASCII byte.
  ///
  /// - Returns: The number of bytes that were read.
  private static func putCharacter(
    _ text: UnsafeRawBufferPointer, at index: Int, _ end: inout UnsafeMutablePointer<UInt8>
  ) -> Int {
    guard let (scalar, length) = UTF8Text.scalar(in: text, at: index) else {
      putCode(0xFFFD, &end)
      return 1
    }
    guard !HiddenCharacter.includes(scalar) else {
      if scalar < 0x10000 {
        putCode(scalar, &end)
      } else {
        putCode(0xD800 + (scalar - 0x10000) >> 10, &end)
        putCode(0xDC00 + (scalar - 0x10000) & 0x3FF, &end)
      }
      return length
    }
    for offset in 0..<length { append(text[index + offset], &end) }
    return length
  }

  private static func putPair(_ byte: UInt8, _ end: inout UnsafeMutablePointer<UInt8>) {
    append(0x5C, &end)
    append(byte, &end)
  }

  /// Writes `\u` and four hexadecimal digits.
  private static func putCode(_ code: UInt32, _ end: inout UnsafeMutablePointer<UInt8>) {
    putPair(0x75, &end)
    for shift in [12, 8, 4, 0] as [UInt32] {
      let digit = UInt8(truncatingIfNeeded: code >> shift & 0xF)
      append(digit < 10 ? 0x30 + digit : 0x57 + digit, &end)
    }
  }
}

/// Writes a byte, and advances the pointer.
@inline(__always)
private func append(_ byte: UInt8, _ end: inout UnsafeMutablePointer<UInt8>) {
  end.pointee = byte
  end += 1
}

/// Invisible characters that change the display of the text around them: they can control a terminal, reverse
/// the order of letters, or carry hidden text.
///
/// They are Unicode's general categories Cc, Cf, Zl, Zp and Co (Cs cannot be encoded), and neighbouring code
/// points that are reserved for such characters. Variation selectors are not included: each affects only the
/// character before it, and Japanese names and emoji need them.
package enum HiddenCharacter {
  /// Whether the character with this code point is one. Line breaks and tabs are.
  package static func includes(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x00...0x1F, 0x7F...0x9F: true  // C0, DEL, C1
    case 0x0020...0x00AC: false  // fast path for most text
    case 0x00AD, 0x061C, 0x180E, 0xFEFF: true
    case 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F: true
    case 0x0600...0x0605, 0x06DD, 0x070F, 0x0890...0x0891, 0x08E2: true
    case 0xE000...0xF8FF, 0xFFF0...0xFFFB: true
    case 0x110BD, 0x110CD, 0x13430...0x1343F, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A: true
    case 0xE0000...0xE00FF, 0xE01F0...0xE0FFF: true  // tags; between them variation selectors
    case 0xF0000...0x10FFFF: true
    default: false
    }
  }
}

package enum UTF8Text {
  /// The code point that begins at a byte, and its number of bytes; nil if there is no complete character.
  package static func scalar(
    in text: UnsafeRawBufferPointer, at index: Int
  ) -> (scalar: UInt32, length: Int)? {
    let first = UInt32(text[index])
    let length: Int
    var scalar: UInt32
    let least: UInt32
    switch first {
    case 0x00...0x7F: return (first, 1)
    case 0xC2...0xDF: (length, scalar, least) = (2, first & 0x1F, 0x80)
    case 0xE0...0xEF: (length, scalar, least) = (3, first & 0x0F, 0x800)
    case 0xF0...0xF4: (length, scalar, least) = (4, first & 0x07, 0x10000)
    default: return nil
    }
    guard index + length <= text.count else { return nil }
    for offset in 1..<length {
      let byte = UInt32(text[index + offset])
      guard byte & 0xC0 == 0x80 else { return nil }
      scalar = scalar << 6 | byte & 0x3F
    }
    guard scalar >= least, scalar <= 0x10FFFF, !(0xD800...0xDFFF).contains(scalar) else {
      return nil
    }
    return (scalar, length)
  }

  /// The length of the longest beginning of a text that has at most `limit` bytes and ends with a complete
  /// character.
  package static func length(of text: UnsafeRawBufferPointer, upTo limit: Int) -> Int {
    guard text.count > limit else { return text.count }
    var end = max(0, limit)
    // A character has at most three bytes after its first.
    for _ in 0..<3 where end > 0 && text[end] & 0xC0 == 0x80 { end -= 1 }
    return end
  }
}

package enum MaskedText {
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
