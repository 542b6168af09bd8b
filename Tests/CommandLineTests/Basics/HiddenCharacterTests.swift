import Basics
import Testing

@Suite struct HiddenCharacterTests {
  @Test func hiddenCharactersAreTheInvisibleCategoriesOfUnicode() {
    // An expectation for each would take seconds.
    let wrong = (UInt32(0)...0x10FFFF).filter { code in
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

  @Test func charactersThatTurnTextRoundAreHidden() {
    for code in [
      0x00, 0x1B, 0x7F, 0x80, 0x9B, 0x9F, 0xAD, 0x061C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029,
      0x202A, 0x202E, 0x2066, 0x2069, 0xFEFF, 0xE0000, 0xE0001, 0xE0041, 0xE007F, 0x10FFFF,
    ] as [UInt32] {
      #expect(HiddenCharacter.includes(code), "U+\(String(code, radix: 16))")
    }
  }

  @Test func charactersOfOrdinaryTextAreNotHidden() {
    for scalar in "Zoë, 東京 بيروت Ελλάδα ~ é ｗ 🌋 ❤\u{FE0F} 葛\u{E0100}".unicodeScalars {
      #expect(!HiddenCharacter.includes(scalar.value), "\(scalar)")
    }
  }
}
