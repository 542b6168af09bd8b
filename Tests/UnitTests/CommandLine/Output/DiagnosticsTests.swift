import Glibc
import TestSupport
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

    @Test(arguments: [
      ("for postgresql://me:se@cr:et@h/d?x=1 no", "for postgresql://...@h/d?x=1 no"),
      ("'http://me:@h' and 'http://:p@h'", "'http://...@h' and 'http://...@h'"),
      ("'ftp://me:se/cr?et@h'", "'ftp://...@h'"), ("ftp://me:7se/cret@h", "ftp://...@h"),
      ("a  ftp://me:b@h ftp://h:21 ftp://me:c@h", "a  ftp://...@h ftp://h:21 ftp://...@h"),
      ("host=h password=se=cret user=me", "host=h password=... user=me"),
      ("password='se \\' cret' a sslpassword=b", "password=... a sslpassword=..."),
      ("?password=a&user=b", "?password=...&user=b"), ("password=", "password=..."),
    ])
    func passwordsAreHidden(text: String, shown: String) throws {
      #expect(
        try printed { $0.error(text, detail: text, hint: text) }
          == "quake-ingest: error: \(shown)\n  detail: \(shown)\n  hint: \(shown)\n")
    }

    @Test(arguments: [
      "postgresql://me@h:5432/d", "http://127.0.0.1:80/a@b", "http://[::1]:80/a@b",
      "http://h/a:b@c",
      "a:b@c", "://", "http://:", "the password", "http://h:80",
    ])
    func textWithoutPasswordStays(text: String) throws {
      #expect(try printed { $0.error(text) } == "quake-ingest: error: \(text)\n")
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

    @Test func aTerminalIsColoured() throws {
      let terminal = try PseudoTerminal()
      Diagnostics(tool: "q", term: nil, descriptor: terminal.descriptor).error("e")
      #expect(terminal.contents() == "q: \u{1B}[1;31merror:\u{1B}[0m e\r\n")
      Diagnostics(tool: "q", term: "dumb", descriptor: terminal.descriptor).error("e")
      #expect(terminal.contents() == "q: error: e\r\n")
    }

    @Test func logLinesHaveTheTime() throws {
      let text = try printed(form: .log) { $0.warning("late") }
      let pattern = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z quake-ingest: warning: late\n/#
      #expect(text.wholeMatch(of: pattern) != nil)
      let terminal = try PseudoTerminal()
      Diagnostics(tool: "q", form: .log, term: "dumb", descriptor: terminal.descriptor).note("n")
      #expect(terminal.contents().wholeMatch(of: #/\d\d:\d\d:\d\d n\r\n/#) != nil)
    }
  }
}

extension TerminalTests {
  /// `--log-format json`.
  @Suite struct LogRecordTests {
    private func printed(
      _ verbosity: Diagnostics.Verbosity = .verbose, _ body: (Diagnostics) -> Void
    ) throws -> [JSONLine] {
      let pipe = try Pipe()
      var diagnostics = Diagnostics(
        tool: "quake-ingest", verbosity: verbosity, descriptor: pipe.writeEnd)
      diagnostics.format = .json
      body(diagnostics)
      return try pipe.contents().split(separator: "\n").map { try JSONLine(String($0)) }
    }

    @Test func eachMessageIsAnObject() throws {
      let lines = try printed {
        $0.error("e", detail: "D.", hints: ["One.", "Two."])
        $0.warning("w", hint: "H.")
        $0.note("n", fields: ["feed": "all_day", "seen": .integer(7), "token": nil])
        $0.verbose("v", fields: ["seconds": .number(0.25), "dry_run": .flag(true)])
      }
      #expect(lines.map { $0.string("level") } == ["error", "warning", "info", "debug"])
      #expect(lines.map { $0.string("message") } == ["e", "w", "n", "v"])
      for line in lines {
        #expect(line.string("tool") == "quake-ingest")
        let time = try #require(line.string("time"))
        #expect(time.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#) != nil)
        #expect(line.keys.isSuperset(of: ["detail", "hint"]))
      }
      #expect(lines[0].string("detail") == "D." && lines[0].string("hint") == "One.\nTwo.")
      #expect(lines[1].isNull("detail") && lines[1].string("hint") == "H.")
      #expect(lines[2].string("feed") == "all_day" && lines[2].integer("seen") == 7)
      #expect(!lines[2].keys.contains("token"))
      #expect(lines[3].text.hasSuffix(",\"seconds\":0.25,\"dry_run\":true}"))
    }

    @Test func nothingBreaksTheLine() throws {
      let hostile = "\"\\ \n\r\t\u{0} \u{1B}[2J \u{7F}\u{9B} \u{2028} é 🌋"
      let lines = try printed {
        $0.error(hostile, detail: hostile, hint: hostile, fields: ["name": .text(hostile)])
        $0.note("n", fields: ["seconds": .number(.infinity)])
      }
      #expect(lines.count == 2)
      for key in ["message", "detail", "hint", "name"] {
        #expect(lines[0].string(key) == hostile)
      }
      #expect(
        lines[0].text.unicodeScalars.allSatisfy {
          $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
        })
      #expect(lines[1].isNull("seconds"))
    }

    @Test func usageErrorsHaveTheRequestedFormat() throws {
      func errors(_ arguments: String...) throws -> String {
        let messages = try Pipe()
        let status = Program.status(
          of: Command("q", purpose: "Try", options: [.quiet, .verbose, .logFormat]), arguments,
          StandardOutput(), Diagnostics(tool: "q", descriptor: messages.writeEnd)
        ) { arguments, diagnostics in
          diagnostics.note(diagnostics.format.rawValue)
          return .ok
        }
        return "\(status.rawValue) " + messages.contents()
      }
      for arguments in [["--log-format", "json"], ["--log-format=json"]] {
        let wrong = try errors(arguments[0], arguments.count > 1 ? arguments[1] : "--nonsense")
        guard arguments.count == 1 else {
          #expect(wrong.contains("\"message\":\"json\""))
          continue
        }
        let line = try JSONLine(String(wrong.dropFirst(3)))
        #expect(wrong.hasPrefix("64 ") && line.integer("status") == 64)
        #expect(line.string("message") == "unknown option '--nonsense'")
      }
      #expect(try errors("--log-format", "xml").contains("expected text or json"))
      #expect(try errors("--log-format", "text") == "0 q: text\n")
      #expect(try errors("--log-format", "json", "-q") == "0 ")
    }
  }
}
