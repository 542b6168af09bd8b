import Testing

@testable import CommandLine

@Suite struct TextTableTests {
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

  @Test func controlCharactersCannotReachTheTerminal() {
    var table = TextTable([.text("A")])
    table.add(["a\u{1B}[2J\nb"])
    #expect(table.render() == "A\na\u{FFFD}[2J b\n")
  }

  @Test func stylesAreAppliedOnlyWithColour() {
    var table = TextTable([.text("A"), .text("B")])
    table.add([TextTable.Cell("red", .red), "x"])
    #expect(table.render() == "A    B\nred  x\n")
    #expect(
      table.render(colour: Colour(isEnabled: true))
        == "\u{1B}[1mA\u{1B}[0m    \u{1B}[1mB\u{1B}[0m\n\u{1B}[31mred\u{1B}[0m  x\n")
  }

  @Test func rowsOfTheWrongLengthFit() {
    var table = TextTable([.text("A"), .text("B")])
    table.add(["1"])
    table.add(["1", "2", "3"])
    #expect(table.render() == "A  B\n1\n1  2\n")
  }
}
