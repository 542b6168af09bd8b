import CommandLine
import Glibc
import Testing

@testable import CommandLine

@Suite struct ReadableTextTests {
  @Test func columnsAreAligned() {
    var table = TextTable([.text("CODE"), .number("MAG"), .text("PLACE")])
    table.add(["us7000pn9s", "4.5", "Hihifo, Tonga"])
    table.add(["ak1", "-0.25", "Poás, Küste"])
    table.add(["nc2", "", ""])
    #expect(
      table.render() == """
        CODE          MAG  PLACE
        us7000pn9s    4.5  Hihifo, Tonga
        ak1         -0.25  Poás, Küste
        nc2

        """)
  }

  @Test func widthCountsVisibleColumns() {
    #expect(DisplayWidth.of("Poás") == 4)
    #expect(DisplayWidth.of("Poa\u{301}s") == 4)
    #expect(DisplayWidth.of("東京") == 4)
    var table = TextTable([.text("A"), .text("B")])
    table.add(["東京", "x"])
    table.add(["é", "y"])
    #expect(table.render() == "A     B\n東京  x\né     y\n")
  }

  @Test func stylesAreAppliedOnlyWithColour() {
    #expect(Colour(isEnabled: false).apply(.red, to: "red") == "red")
    #expect(Colour(isEnabled: true).apply(.red, to: "red") == "\u{1B}[31mred\u{1B}[0m")
  }

  @Test func onlyATerminalIsColoured() throws {
    let terminal = try PseudoTerminal()
    #expect(Colour(for: terminal.descriptor, term: nil).isEnabled)
    #expect(!Colour(for: terminal.descriptor, term: "dumb").isEnabled)
    let pipe = try Pipe()
    #expect(!Colour(for: pipe.writeEnd, term: nil).isEnabled)
    #expect(ColourChoice(noColor: "1", force: "1") == .never)
    #expect(ColourChoice(noColor: "", force: "1") == .always)
    #expect(ColourChoice(noColor: "", force: "0") == .automatic)
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-1_000, "-1,000"),
    (Int.min, "-9,223,372,036,854,775,808"),
  ])
  func aCountHasItsThousandsSeparated(number: Int, text: String) {
    #expect(Readable.count(number) == text)
  }

  @Test(arguments: [
    (0, "0 events"), (1, "1 event"), (2, "2 events"), (1_000, "1,000 events"), (-1, "-1 events"),
  ])
  func aCountedNounIsInThePluralUnlessThereIsOne(number: Int, text: String) {
    #expect(Readable.count(number, "event") == text)
    #expect(Readable.count(Int64(number), "event") == text)
  }

  @Test(arguments: [
    (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (1_536, "1.5 KiB"), (20_480, "20 KiB"),
    (1_048_575, "1.0 MiB"), (1_048_576, "1.0 MiB"), (800_000_000, "763 MiB"),
    (Int.max, "8.0 EiB"),
  ])
  func bytesAreShownInReadableUnits(number: Int, text: String) {
    #expect(Readable.bytes(number) == text)
  }

  @Test(arguments: [
    (Duration.milliseconds(12), "12 ms"), (.milliseconds(3_450), "3.4 s"), (.seconds(42), "42 s"),
    (.seconds(303), "5m 03s"), (.seconds(7_500), "2h 05m"), (.seconds(273_600), "3d 04h"),
    (.seconds(-42), "-42 s"),
  ])
  func durationsAreShownInReadableUnits(duration: Duration, text: String) {
    #expect(Readable.duration(duration) == text)
  }

  @Test func decimalsAreRoundedAndNeverNegativeZero() {
    #expect(Readable.decimal(4.5) == "4.5")
    #expect(Readable.decimal(4.05, places: 2) == "4.05")
    #expect(Readable.decimal(-0.04) == "0.0")
    #expect(Readable.decimal(-1.25) == "-1.3")
    #expect(Readable.decimal(9.96, places: 0) == "10")
    #expect(Readable.decimal(1e20) == "1e+20")
    #expect(Readable.decimal(.nan) == "nan")
  }

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
}
