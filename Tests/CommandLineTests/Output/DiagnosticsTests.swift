import Glibc
import Testing

@testable import CommandLine

extension TerminalTests {
  @Suite struct DiagnosticsTests {
    private func printed(
      _ verbosity: Diagnostics.Verbosity = .normal, form: Diagnostics.Form = .message,
      _ body: (Diagnostics) -> Void
    ) throws -> String {
      let pipe = try Pipe()
      body(
        Diagnostics(
          tool: "quake-ingest", verbosity: verbosity, form: form, descriptor: pipe.writeEnd))
      return pipe.contents()
    }

    @Test func errorsHaveDetailsAndHints() throws {
      let text = try printed {
        $0.error(
          "could not read the feed", detail: "Status 503.\nTwice.", hints: ["Wait.", "Ask."])
        $0.error("no", hint: "Yes.")
      }
      #expect(
        text == """
          quake-ingest: error: could not read the feed
            detail: Status 503.
              Twice.
            hint: Wait.
            hint: Ask.
          quake-ingest: error: no
            hint: Yes.

          """)
    }

    /// An error that quotes a server or a file could otherwise be two messages.
    @Test func noLineOfAMessageLooksLikeAnother() throws {
      let forged = "no\nquake-ingest: error: forged\r\nquake-ingest: error: forged, too"
      let text = try printed { $0.error(forged, detail: forged, hint: forged) }
      #expect(text.split(separator: "\n").count == 9)
      #expect(text.split(separator: "\n").dropFirst().allSatisfy { $0.hasPrefix("  ") })
    }

    @Test func verbosityDecides() throws {
      func all(_ diagnostics: Diagnostics) {
        diagnostics.error("e")
        diagnostics.warning("w", hint: "H.")
        diagnostics.note("n", detail: "D.")
        diagnostics.verbose("v")
      }
      let quiet = "quake-ingest: error: e\nquake-ingest: warning: w\n  hint: H.\n"
      let normal = quiet + "quake-ingest: n\n  detail: D.\n"
      #expect(try printed(.quiet, all) == quiet)
      #expect(try printed(.normal, all) == normal)
      #expect(try printed(.verbose, all) == normal + "quake-ingest: v\n")
    }

    @Test func verbosityComesFromTheOptions() throws {
      #expect(try Diagnostics.verbosity(of: Sample.run(Sample.watch, "-q")) == .quiet)
      #expect(try Diagnostics.verbosity(of: Sample.run(Sample.watch, "-v")) == .verbose)
      #expect(try Diagnostics.verbosity(of: Sample.run(Sample.watch)) == .normal)
      let both = try Sample.run(Sample.watch, "-qv")
      #expect(throws: both.usageError("options --quiet and --verbose cannot be used together")) {
        try Diagnostics.verbosity(of: both)
      }
    }

    @Test func usageErrorsAreReported() throws {
      let text = try printed {
        $0.report(UsageError("bad", suggestion: "--good", command: "quake-ingest run"))
      }
      #expect(
        text == """
          quake-ingest: error: bad
            hint: did you mean '--good'?
            hint: see 'quake-ingest run --help'

          """)
    }

    @Test func aTerminalIsColoured() throws {
      let terminal = try PseudoTerminal()
      Diagnostics(tool: "q", descriptor: terminal.descriptor).error("e")
      #expect(terminal.contents() == "q: \u{1B}[1;31merror:\u{1B}[0m e\r\n")
      Diagnostics(tool: "q", noColor: "1", descriptor: terminal.descriptor).error("e")
      #expect(terminal.contents() == "q: error: e\r\n")
    }

    @Test func logLinesHaveTheTime() throws {
      let text = try printed(form: .log) { $0.warning("late") }
      let pattern = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z quake-ingest: warning: late\n/#
      #expect(text.wholeMatch(of: pattern) != nil)
      let terminal = try PseudoTerminal()
      Diagnostics(tool: "q", form: .log, noColor: "1", descriptor: terminal.descriptor).note("n")
      #expect(terminal.contents().wholeMatch(of: #/\d\d:\d\d:\d\d n\r\n/#) != nil)
    }

    @Test func timesAreIso8601() {
      #expect(
        LogTime(seconds: 951_782_400, milliseconds: 7).iso8601 == "2000-02-29T00:00:00.007Z")
    }
  }
}
