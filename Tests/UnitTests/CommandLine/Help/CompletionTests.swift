import Glibc
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

  private static let values = Command(
    "list", purpose: "List",
    options: [
      .value(
        "columns", "COLUMN,...", completion: .words(["time", "magnitude", "place"]), help: "which"),
      .value(
        "type", "TYPE,...", completion: .usually(["earthquake", "quarry blast"]), help: "which"),
      .value(
        "feed", "FEED", repeatable: true,
        completion: .found(
          by: "echo from_database", or: ["all_day", "all_hour"], files: true),
        help: "which"),
      .limit(help: "how many"), .colour,
    ],
    positionals: [
      Positional("ACTION", .optional, completion: .words(["apply", "discard"]), help: "what"),
      Positional("ID", .optional, completion: .found(by: "echo 17"), help: "which"),
    ])

  @Test(.enabled("bash is not installed") { OutsideProgram.isInstalled("bash") })
  func bashOffersValues() {
    // In a list, what follows the last comma.
    #expect(offered(Self.values, "--columns", "m") == ["magnitude"])
    #expect(
      offered(Self.values, "--columns", "time,") == ["time,time", "time,magnitude", "time,place"])
    #expect(offered(Self.values, "--columns", "=", "time,pl") == ["time,place"])
    // A space is typed with a backslash.
    #expect(offered(Self.values, "--type", "q") == ["quarry\\ blast"])
    // Names, then what the command prints, then files.
    #expect(
      Array(offered(Self.values, "--feed", "").prefix(3)) == [
        "all_day", "all_hour", "from_database",
      ])
    #expect(offered(Self.values, "--feed", "from") == ["from_database"])
    #expect(offered(Self.values, "--feed", "/etc/pass").contains("/etc/passwd"))
    // Each argument has its own values.
    #expect(offered(Self.values, "") == ["apply", "discard"])
    #expect(offered(Self.values, "apply", "") == ["17"])
    #expect(offered(Self.values, "--limit", "5", "apply", "1") == ["17"])
    #expect(offered(Self.values, "apply", "17", "") == [])
    // What is given already is not offered again, under any of its names.
    #expect(offered(Self.values, "-n", "5", "--li") == [])
    #expect(offered(Self.values, "--feed", "x", "--fe") == ["--feed"])
    #expect(offered(Self.values, "--c") == ["--columns", "--color"])
    #expect(offered(Self.values, "--color", "--no") == [])
  }

  @Test(.enabled("fish is not installed") { OutsideProgram.isInstalled("fish") })
  func fishOffersValues() {
    func offered(_ line: String) -> [String] {
      let script = Self.values.completions(for: .fish) + "\ncomplete -C '\(line)'\n"
      return OutsideProgram.run("HOME=/tmp fish --no-config $FILE", input: script).output
        .split(separator: "\n").map { String($0.split(separator: "\t")[0]) }
    }
    #expect(offered("list --columns time,pl") == ["time,place"])
    #expect(offered("list --type q") == ["quarry blast"])
    #expect(offered("list --feed from") == ["from_database"])
    #expect(offered("list --feed all") == ["all_day", "all_hour"])
  }

  @Test func valuesAreInTheScriptOfZsh() {
    let script = Self.values.completions(for: .zsh)
    #expect(script.contains(":COLUMN,...:_sequence compadd - time magnitude place'"))
    #expect(script.contains(":TYPE,...:_sequence compadd - earthquake quarry\\ blast'"))
    #expect(
      script.contains(
        ":FEED: _list_found '\\''echo from_database'\\'' files all_day all_hour'"),
      "\(script)")
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

/// Runs programs of the system that check the generated scripts.
enum OutsideProgram {
  static func isInstalled(_ name: String) -> Bool {
    run("command -v \(name)", input: "").status == 0
  }

  /// Runs a shell command with `input` in the file `$FILE`; output and messages come back together.
  static func run(_ command: String, input: String) -> (status: Int32, output: String) {
    var name = Array("/tmp/quake-command-line.XXXXXX".utf8CString)
    let file = mkstemp(&name)
    let path = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    defer { unlink(path) }
    _ = input.withCString { write(file, $0, strlen($0)) }
    close(file)
    guard let stream = popen("FILE=\(path); { \(command); } 2>&1 </dev/null", "r") else {
      return (-1, "popen failed")
    }
    let output = readAvailable(fileno(stream))
    return (pclose(stream), output)
  }
}
