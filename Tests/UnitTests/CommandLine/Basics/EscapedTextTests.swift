import Basics
import Foundation
import Testing

@Suite struct EscapedTextTests {
  private func escaped(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBytes { text in
      withUnsafeTemporaryAllocation(
        of: UInt8.self, capacity: EscapedText.capacity(for: bytes.count)
      ) { buffer in
        guard let start = buffer.baseAddress else { return [] }
        var end = start
        EscapedText.put(text, &end)
        return Array(buffer[..<(end - start)])
      }
    }
  }

  private func parsed(_ json: [UInt8]) throws -> String? {
    try JSONSerialization.jsonObject(
      with: Data([0x22] + json + [0x22]), options: [.fragmentsAllowed]) as? String
  }

  @Test func aJSONStringHasNoHiddenCharacterAndAParserRestoresEach() throws {
    for code in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(code) else { continue }
      let isHidden = HiddenCharacter.includes(code)
      // All of those in question, and of the others one in some.
      guard isHidden && code < 0xE000 || code % 197 == 0 || code < 0x400 || code >> 8 == 0xE00
      else { continue }
      let text = String(repeating: "x", count: Int(code % 9)) + String(Character(scalar)) + "yz\""
      let json = escaped(Array(text.utf8))
      let shown = String(decoding: json, as: UTF8.self)
      #expect(!shown.unicodeScalars.contains { HiddenCharacter.includes($0.value) })
      let back = try #require(try parsed(json))
      #expect(back.unicodeScalars.elementsEqual(text.unicodeScalars), "U+\(code)")
    }
  }

  @Test func textWithoutSpecialCharactersIsNotEscapedWhateverItsLength() {
    for count in 0...40 {
      let text = (0..<count).map { UInt8(0x61 + $0 % 26) }
      #expect(escaped(text) == text)
      for place in 0..<count {
        var special = text
        special[place] = 0x22
        var expected = text
        expected.replaceSubrange(place...place, with: [0x5C, 0x22])
        #expect(escaped(special) == expected)
      }
    }
  }

  @Test(arguments: [0, 3, 7, 8])
  func escapedTextIsUTF8ForAnyInput(before: Int) throws {
    let garbage: [[UInt8]] = [
      [0xFF], [0x80], [0xC0, 0x80], [0xC2], [0xE2, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x8C],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x80, 0x41], [0xE0, 0x80, 0x80],
    ]
    for bytes in garbage {
      let text = Array(repeating: UInt8(0x41), count: before) + bytes
      let json = escaped(text)
      #expect(String(validating: json, as: UTF8.self) != nil, "\(bytes)")
      let back = try #require(try parsed(json))
      #expect(back.hasPrefix(String(repeating: "A", count: before)))
      #expect(back.unicodeScalars.contains("\u{FFFD}"), "\(bytes)")
    }
  }

  @Test func escapingNeedsNoMoreMemoryThanItsCapacity() {
    for text in ["\u{1}", "\u{9B}", "\u{202E}", "\u{E0041}", "\u{7F}"] {
      let bytes = Array(String(repeating: text, count: 1000).utf8)
      #expect(escaped(bytes).count <= bytes.count * 6)
    }
    let bytes = [UInt8](repeating: 0xFF, count: 1000)
    #expect(escaped(bytes).count == bytes.count * 6)
  }

  @Test func hiddenCharactersAreTheInvisibleCategoriesOfUnicode() {
    // An expectation for each would take seconds.
    let wrong = (UInt32(0)...0x10FFFF).filter { code in
      // Of the planes in which nothing is hidden but private characters, one in some.
      guard code < 0x20000 || code >> 16 == 0xE || code % 97 == 0 else { return false }
      guard let scalar = Unicode.Scalar(code) else { return false }
      let isHidden = HiddenCharacter.includes(code)
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse: return !isHidden
      case .unassigned: return false
      default: return isHidden
      }
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(9).map { String($0, radix: 16) })")
  }
}
