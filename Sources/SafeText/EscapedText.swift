/// Escapes the contents of JSON strings.
///
/// It escapes the characters that JSON requires, and each ``HiddenCharacter``, so that a line of JSON is
/// harmless on a terminal. A JSON parser restores the original text. Bytes that are not UTF-8 become U+FFFD.
public enum EscapedText {
  /// The most memory that `put` needs for a number of bytes: six for each, and a word at the end.
  public static func capacity(for count: Int) -> Int { count * 6 + 8 }

  /// Writes escaped UTF-8. The memory must have the size that `capacity` returns.
  public static func put(
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

  /// A JSON string with its quotes.
  public static func quoted(_ text: String) -> String {
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
