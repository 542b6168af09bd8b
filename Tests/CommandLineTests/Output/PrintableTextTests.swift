import CommandLine
import Testing

@Suite struct PrintableTextTests {
  @Test func textHasNoCharacterThatControlsATerminalOrReversesTheOrder() {
    let hostile = "a\u{1B}[2J\u{9B}2J\u{7F}\u{0}\u{202E}\u{2066}\u{200B}\u{FEFF}\u{E0041}\u{F8FF}z"
    let expected = "a\u{FFFD}[2J\u{FFFD}2J" + String(repeating: "\u{FFFD}", count: 8) + "z"
    #expect(PrintableText.clean(hostile) == expected)
    #expect(PrintableText.line(hostile) == expected)
  }

  @Test func textKeepsItsLinesOrBecomesOneLine() {
    let text = "a\nb\tc\r\nd\u{2028}e\u{85}f\rg"
    #expect(PrintableText.clean(text) == "a\nb\tc\u{FFFD}\nd\u{FFFD}e\u{FFFD}f\u{FFFD}g")
    #expect(PrintableText.line(text) == "a b c d e f g")
  }

  @Test func textIsCutBeforeItIsCleanedBetweenTwoCharacters() {
    #expect(PrintableText.line("12345678", atMost: 8) == "12345678")
    #expect(PrintableText.line("123456789", atMost: 8) == "12345678…")
    #expect(PrintableText.line("éééé", atMost: 3) == "é…")
    #expect(PrintableText.line("🌋🌋", atMost: 7) == "🌋…")
    #expect(PrintableText.line("🌋", atMost: 3) == "…")
    #expect(PrintableText.clean(String(repeating: "x", count: 1 << 20)).utf8.count < 17 << 10)
    // A letter with any number of combining marks is one character in Swift.
    let tower = "a" + String(repeating: "\u{301}", count: 100_000)
    #expect(PrintableText.line(tower).utf8.count <= PrintableText.lineLimit + 3)
    // Invalid UTF-8 may be cut anywhere.
    let garbage = [UInt8](repeating: 0x80, count: 100)
    let line = garbage.withUnsafeBytes { PrintableText.line(utf8: $0, atMost: 10) }
    #expect(line.unicodeScalars.allSatisfy { $0 == "\u{FFFD}" || $0 == "…" })
  }

  @Test func textIsUnchangedIfItHasNoHiddenCharacters() {
    for text in ["", "2 km SW of Guánica, Puerto Rico", "東京湾 — Ελλάδα 🌋❤\u{FE0F}"] {
      #expect(PrintableText.line(text) == text && PrintableText.clean(text) == text)
    }
  }
}
