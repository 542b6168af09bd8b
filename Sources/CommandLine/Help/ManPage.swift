extension Command {
  /// The manual page, in section 1, in roff with the `man` macros.
  ///
  /// The footer shows `date`, such as `2026-03-01`; the header shows `manual`. The page includes the
  /// subcommands.
  package func manPage(date: String, manual: String) -> String {
    var page = RoffPage()
    let root = CommandPath(self)
    let source = [name, version ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    page.title(name.uppercased(), date: date, source, manual)
    // No hyphenation and no justification, so that commands can be copied.
    page.request("nh")
    page.request("ad l")
    page.request("SH", ["NAME"])
    page.text("\(name) - \(purpose)")
    page.request("SH", ["SYNOPSIS"])
    let leaves = root.descendants.filter(\.command.subcommands.isEmpty)
    for (index, path) in leaves.enumerated() {
      if index > 0 { page.request("br") }
      page.bold(path.usage)
    }
    if let discussion {
      page.request("SH", ["DESCRIPTION"])
      page.paragraphs(discussion)
    }
    if !subcommands.isEmpty { page.request("SH", ["COMMANDS"]) }
    // A command without subcommands is the page itself.
    for path in leaves where path.commands.count > 1 {
      page.request("SS", [path.usage])
      page.text(path.command.purpose + ".")
      if let discussion = path.command.discussion {
        page.request("PP")
        page.paragraphs(discussion)
      }
      page.positionals(path.command.positionals)
      // The options of commands between this one and the outermost apply here as well.
      page.options(path.commands.dropFirst().reversed().flatMap(\.options))
      page.examples(path.command.examples)
    }
    page.request("SH", ["OPTIONS"])
    page.positionals(positionals)
    page.options(root.allOptions)
    page.definitions("ENVIRONMENT", environment.map { ($0.name, $0.help) })
    page.definitions("EXIT STATUS", exitStatuses.map { ("\($0.status.rawValue)", $0.meaning) })
    if !examples.isEmpty {
      page.request("SH", ["EXAMPLES"])
      page.examples(examples, afterHeading: true)
    }
    if let problems {
      page.request("SH", ["BUGS"])
      page.text("Report problems at \(problems).")
    }
    return page.source
  }
}

private struct RoffPage {
  private(set) var source = ""

  mutating func request(_ name: String, _ arguments: [String] = []) {
    source += "." + name
    for argument in arguments {
      source += " \"" + Self.escaped(argument).replacingQuotes() + "\""
    }
    source += "\n"
  }

  /// The title line. Its date is not escaped: programs read it.
  mutating func title(_ name: String, date: String, _ source: String, _ manual: String) {
    let words = [name, "1", date, source, manual].map {
      ($0 == date ? $0 : Self.escaped($0)).replacingQuotes()
    }
    self.source += ".TH" + words.map { " \"\($0)\"" }.joined() + "\n"
  }

  /// The longest line of the source in bytes: tools for manual pages warn of longer ones.
  private static let longest = 80

  /// The words in lines that are short enough. A character outside ASCII counts as its escape, `\[u0101]`.
  private static func lines(_ text: String) -> [String] {
    var lines: [String] = []
    var (line, length) = ("", 0)
    for word in text.split(separator: " ") {
      let size = word.unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 1 : 8) }
      if !line.isEmpty, length + 1 + size >= longest {
        lines.append(line)
        (line, length) = ("", 0)
      }
      line += (line.isEmpty ? "" : " ") + word
      length += size + 1
    }
    return lines + [line]
  }

  mutating func text(_ text: String) {
    for line in Self.lines(Self.escaped(text)) {
      // roff takes a line that begins with a dot or an apostrophe for a request.
      let isRequest = line.hasPrefix(".") || line.hasPrefix("\\(aq")
      source += (isRequest ? "\\&" : "") + line + "\n"
    }
  }

  mutating func bold(_ text: String) { source += "\\fB" + Self.escaped(text) + "\\fR\n" }

  mutating func paragraphs(_ text: String) {
    for (index, paragraph) in TextWrapping.paragraphs(text).enumerated() {
      if index > 0 { request("PP") }
      self.text(paragraph)
    }
  }

  mutating func positionals(_ positionals: [Positional]) {
    for positional in positionals where !positional.help.isEmpty {
      request("TP")
      source += "\\fI\(Self.escaped(positional.name))\\fR\n"
      text(positional.help)
    }
  }

  mutating func options(_ options: [Option]) {
    for option in options {
      request("TP")
      var label = option.short.map { "\\fB\\-\($0)\\fR, " } ?? ""
      label += "\\fB\(Self.escaped(option.shownName))\\fR"
      if let placeholder = option.shownPlaceholder {
        label += " \\fI\(Self.escaped(placeholder))\\fR"
      }
      source += label + "\n"
      text(option.fullHelp)
    }
  }

  mutating func definitions(_ title: String, _ rows: [(label: String, help: String)]) {
    guard !rows.isEmpty else { return }
    request("SH", [title])
    for row in rows {
      request("TP")
      bold(row.label)
      text(row.help)
    }
  }

  /// - Parameter afterHeading: Whether a heading is above them, which begins a paragraph already.
  mutating func examples(_ examples: [Command.Example], afterHeading: Bool = false) {
    for (index, example) in examples.enumerated() {
      if index > 0 || !afterHeading { request("PP") }
      text(example.purpose + ":")
      request("PP")
      request("RS", ["4"])
      request("nf")
      bold(example.line)
      request("fi")
      request("RE")
    }
  }

  /// Dashes are escaped so that they are rendered as ASCII and can be copied.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case "'": escaped += "\\(aq"
      case "`": escaped += "\\(ga"
      case "^": escaped += "\\(ha"
      case "~": escaped += "\\(ti"
      case "\n": escaped += " "
      default: escaped.append(character)
      }
    }
    return escaped
  }
}

extension String {
  /// Quotes within a quoted argument of a request, written by name.
  fileprivate func replacingQuotes() -> String {
    split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\(dq")
  }
}
