import Testing

@testable import CommandLine

@Suite struct CompletionTests {
  /// The completions of bash for the last word.
  private func offered(_ command: Command, _ words: String...) -> [String] {
    let line = words.map { "'\($0)'" }.joined(separator: " ")
    let script = """
      \(command.completions(for: .bash))
      COMP_WORDS=(\(command.name) \(line))
      COMP_CWORD=\(words.count)
      _\(String(command.name.map { $0 == "-" ? "_" : $0 }))
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    return OutsideProgram.run("bash --norc --noprofile \"$FILE\"", input: script)
      .output.split(separator: "\n").map(String.init)
  }

  private static let commands = [Sample.ingest, Sample.watch, Sample.admin, Sample.move]

  @Test(.enabled("bash is not installed") { OutsideProgram.isInstalled("bash") })
  func bashReadsItsScripts() {
    for command in Self.commands {
      let result = OutsideProgram.run("bash -n $FILE", input: command.completions(for: .bash))
      #expect(result == (0, ""))
    }
  }

  @Test(.enabled("zsh is not installed") { OutsideProgram.isInstalled("zsh") })
  func zshReadsItsScripts() {
    for command in Self.commands {
      let result = OutsideProgram.run("zsh -n $FILE", input: command.completions(for: .zsh))
      #expect(result == (0, ""))
    }
  }

  @Test(.enabled("fish is not installed") { OutsideProgram.isInstalled("fish") })
  func fishReadsItsScripts() {
    for command in Self.commands {
      let result = OutsideProgram.run("fish -n $FILE", input: command.completions(for: .fish))
      #expect(result == (0, ""))
    }
  }

  @Test(.enabled("bash is not installed") { OutsideProgram.isInstalled("bash") })
  func bashOffersWhatFits() {
    #expect(offered(Sample.ingest, "") == ["run", "import"])
    #expect(offered(Sample.ingest, "i") == ["import"])
    #expect(offered(Sample.ingest, "run", "--no") == ["--no-migrate"])
    #expect(offered(Sample.ingest, "--database", "run", "") == ["run", "import"])
    #expect(offered(Sample.ingest, "--database", "=", "run", "") == ["run", "import"])
    #expect(offered(Sample.ingest, "run", "--feed", "all_d") == ["all_day"])
    #expect(offered(Sample.ingest, "run", "--feed", "=") == ["all_hour", "all_day"])
    #expect(offered(Sample.ingest, "run", "--feed", "=", "all_h") == ["all_hour"])
    #expect(offered(Sample.ingest, "run", "--every", "") == [])
    #expect(offered(Sample.ingest, "import", "/etc/pass").contains("/etc/passwd"))
    #expect(offered(Sample.admin, "server", "st") == ["start", "stop"])
    #expect(offered(Sample.watch, "--fr") == ["--from-start"])
    #expect(offered(Sample.watch, "--batch", "--fr") == ["--from-start"])
    #expect(offered(Sample.watch, "--batch", "") == [])
  }

  @Test func everyOptionIsInEveryScript() {
    for shell in Shell.allCases {
      let script = Sample.watch.completions(for: shell)
      for option in Sample.watch.options {
        #expect(script.contains(option.name), "\(option.name) for \(shell)")
      }
      #expect(Sample.admin.completions(for: shell).contains("start"))
    }
  }

  @Test func quotesInTheHelpDoNotBreakTheScripts() {
    let command = Command(
      "odd", purpose: "Odd", options: [.value("a", "X:Y", help: "it's [odd]: \\ \"so\" $HOME")])
    #expect(
      command.completions(for: .zsh).contains(
        #"'(--a)--a=[it'\''s \[odd\]\: \\ "so" $HOME]:X\:Y: '"#))
    #expect(command.completions(for: .fish).contains(#"-d 'it\'s [odd]: \\ "so" $HOME'"#))
  }
}
