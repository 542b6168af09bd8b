import Basics
import Glibc
import TestSupport
import Testing

@testable import CommandLine

/// Tests that share the process's one progress line, one after the other.
@Suite(.serialized) enum TerminalTests {}

extension TerminalTests {
  @Suite struct ProgressBarTests {
    @Test func theLineTellsHowFarItIs() {
      func line(_ done: Int, _ total: Int?, _ unit: ProgressBar.Unit, width: Int = 120) -> String {
        ProgressBar.line(
          label: "load", unit: unit, done: done, total: total, elapsed: .seconds(2), width: width)
      }
      #expect(
        line(500, 2_000, .items("events"))
          == "load: 25%, 500 of 2,000 events, 250/s, 7 s left, 2 s"
          + " [#######.......................]")
      #expect(line(500, nil, .items("events")) == "load: 500 events, 250/s, 2 s")
      #expect(line(4_096, nil, .bytes) == "load: 4.0 KiB, 2.0 KiB/s, 2 s")
      #expect(line(0, 0, .items("events")) == "load: 0 events, 2 s")
      #expect(line(3_000, 2_000, .items("events")).hasPrefix("load: 100%, 3,000 of 2,000 events"))
      #expect(line(500, 2_000, .items("events"), width: 20) == "load: 25%, 500 of 2")
    }

    @Test func earlierWorkDoesNotCountForTheRate() {
      let line = ProgressBar.line(
        label: "load", unit: .items("events"), done: 1_500, total: 2_000, before: 1_000,
        elapsed: .seconds(2), width: 70)
      #expect(line.hasPrefix("load: 75%, 1,500 of 2,000 events, 250/s, 3 s left, 2 s"))
      let begun = ProgressBar.line(
        label: "load", unit: .items("events"), done: 10, total: 20, before: 10,
        elapsed: .seconds(2), width: 40)
      #expect(begun.hasPrefix("load: 50%, 10 of 20 events, 2 s"))
    }

    @Test func itIsDrawnAtMostTenTimesASecondAndClearsItself() throws {
      let terminal = try PseudoTerminal()
      let diagnostics = Diagnostics(tool: "q", term: "dumb", descriptor: terminal.descriptor)
      let start = MonotonicClock.now()
      let bar = ProgressBar(
        "load", unit: .items("events"), total: 10, after: .zero, diagnostics: diagnostics)
      for _ in 0..<10 { bar.advance() }
      let allowed = 1 + Int((MonotonicClock.now() - start) / .milliseconds(100))
      #expect(bar.done == 10)
      let drawn = terminal.contents()
      #expect(drawn.hasPrefix("\r\u{1B}[Kload: 10%, 1 of 10 events"))
      #expect(drawn.split(separator: "\r").count <= allowed)
      diagnostics.note("n")
      #expect(terminal.contents() == "\r\u{1B}[Kq: n\r\n")
      bar.finish()
      #expect(terminal.contents() == "\r\u{1B}[K")
      bar.finish()
      diagnostics.note("n")
      #expect(terminal.contents() == "q: n\r\n")
    }

    @Test func aShortOperationHasNoBar() throws {
      // On a busy machine it may not be short.
      try eventually("an operation is shorter than a second") {
        let terminal = try PseudoTerminal()
        let begun = MonotonicClock.now()
        let bar = ProgressBar(
          "load", unit: .items("events"), total: 10,
          diagnostics: Diagnostics(tool: "q", term: "dumb", descriptor: terminal.descriptor))
        bar.update(done: 5)
        guard MonotonicClock.now() - begun < .seconds(1) else { return false }
        #expect(terminal.contents() == "")
        return true
      }
    }

    @Test func itIsSilentElsewhereOrWhenQuiet() throws {
      let pipe = try Pipe()
      let piped = ProgressBar(
        "load", unit: .bytes, diagnostics: Diagnostics(tool: "q", descriptor: pipe.writeEnd))
      piped.update(done: 5)
      piped.finish()
      #expect(pipe.contents() == "")
      let terminal = try PseudoTerminal()
      let quiet = ProgressBar(
        "load", unit: .bytes,
        diagnostics: Diagnostics(tool: "q", verbosity: .quiet, descriptor: terminal.descriptor))
      quiet.update(done: 5)
      quiet.finish()
      #expect(terminal.contents() == "")
    }
  }
}
