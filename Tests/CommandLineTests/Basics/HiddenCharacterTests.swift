import Basics
import Testing

@Suite("Hidden characters")
struct HiddenCharacterTests {
  @Test("are the controls, format characters, line separators and private characters of Unicode")
  func categories() {
    for code in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(code) else { continue }
      let isHidden = HiddenCharacter.includes(code)
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse:
        #expect(isHidden, "U+\(String(code, radix: 16))")
      case .unassigned: break
      default: #expect(!isHidden, "U+\(String(code, radix: 16))")
      }
    }
  }

  @Test(
    "turn text round or cannot be seen",
    arguments: [
      0x00, 0x1B, 0x7F, 0x80, 0x9B, 0x9F, 0xAD, 0x061C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029,
      0x202A, 0x202E, 0x2066, 0x2069, 0xFEFF, 0xE0000, 0xE0001, 0xE0041, 0xE007F, 0x10FFFF,
    ] as [UInt32])
  func known(code: UInt32) {
    #expect(HiddenCharacter.includes(code))
  }

  @Test("are none of the characters of ordinary text")
  func letters() {
    for scalar in "Zoë, 東京 بيروت Ελλάδα ~ é ｗ 🌋 ❤\u{FE0F} 葛\u{E0100}".unicodeScalars {
      #expect(!HiddenCharacter.includes(scalar.value), "\(scalar)")
    }
  }
}
