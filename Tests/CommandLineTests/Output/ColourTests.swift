import Glibc
import Testing

@testable import CommandLine

@Suite struct ColourTests {
  @Test func stylesAreAnsiSequences() {
    let colour = Colour(isEnabled: true)
    #expect(colour.apply(.orange, to: "4.5") == "\u{1B}[38;5;208m4.5\u{1B}[0m")
    #expect(colour.apply(.bold, .red, to: "x") == "\u{1B}[1;31mx\u{1B}[0m")
    #expect(colour.apply(.dim, to: "") == "")
    #expect(Set(TextStyle.allCases.map(\.parameter)).count == TextStyle.allCases.count)
  }

  @Test func offLeavesTextAlone() {
    #expect(Colour(isEnabled: false).apply(.green, to: "x") == "x")
  }

  @Test func onlyATerminalIsColoured() throws {
    let terminal = try PseudoTerminal()
    #expect(Colour(for: terminal.descriptor, noColor: nil).isEnabled)
    #expect(Colour(for: terminal.descriptor, noColor: "").isEnabled)
    #expect(!Colour(for: terminal.descriptor, noColor: "1").isEnabled)
    #expect(!Colour(for: terminal.descriptor, noColor: nil, term: "dumb").isEnabled)
    let pipe = try Pipe()
    #expect(!Colour(for: pipe.writeEnd, noColor: nil).isEnabled)
  }
}
