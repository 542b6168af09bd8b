extension Command {
  /// The help of this command as the outermost one.
  package func help(width: Int = 80) -> String { CommandPath(self).help(width: width) }
}

extension CommandPath {
  /// Purpose, usage, commands, arguments, options, examples, environment and exit status.
  func help(width: Int = 80) -> String {
    var page = HelpPage(width: width)
    page.paragraph(command.purpose)
    page.section("Usage")
    page.verbatim(usage)
    for paragraph in TextWrapping.paragraphs(command.discussion ?? "") { page.paragraph(paragraph) }
    page.list("Commands", command.subcommands.map { ($0.name, $0.purpose) })
    page.list(
      "Arguments", command.positionals.filter { !$0.help.isEmpty }.map { ($0.name, $0.help) })
    if commands.count == 1 {
      page.options("Options", allOptions)
    } else {
      page.options("Options", ownOptions)
      page.options("Common options", inheritedOptions)
    }
    page.examples(command.examples)
    page.list("Environment", environment.map { ($0.name, $0.help) })
    page.list("Exit status", exitStatuses.map { ("\($0.status.rawValue)", $0.meaning) })
    if !command.subcommands.isEmpty {
      page.paragraph("For one of the commands: '\(title) COMMAND --help'.")
    }
    if let problems = root.problems { page.paragraph("Report problems at \(problems).") }
    return page.text
  }

  /// The help for a person who types the name of a tool alone, or no subcommand: examples first, then the
  /// commands.
  func shortHelp() -> String {
    var page = HelpPage(width: 80)
    page.paragraph("\(title): \(command.purpose)")
    let subcommands = command.subcommands
    page.examples(
      command.examples.isEmpty ? subcommands.compactMap(\.examples.first) : command.examples)
    page.list("Commands", subcommands.map { ($0.name, $0.purpose) })
    if !subcommands.isEmpty {
      let names = commands.dropFirst().map { $0.name + " " }.joined()
      page.paragraph("For one of the commands: '\(root.name) help \(names)COMMAND'.")
    }
    page.paragraph("All options: '\(title) --help'.")
    if let problems = root.problems { page.paragraph("Report problems at \(problems).") }
    return page.text
  }
}

private struct HelpPage {
  private(set) var text = ""
  let width: Int

  init(width: Int) { self.width = width }

  mutating func paragraph(_ paragraph: String) {
    if !text.isEmpty { text += "\n" }
    for line in TextWrapping.lines(paragraph, width: width) { text += line + "\n" }
  }

  mutating func section(_ title: String) { text += "\n\(title):\n" }

  mutating func verbatim(_ line: String) { text += "  \(line)\n" }

  mutating func options(_ title: String, _ options: [Option]) {
    // Long names are aligned even if only some options have a short one.
    let hasShort = options.contains { $0.short != nil }
    list(
      title,
      options.map { option in
        var label = option.short.map { "-\($0), " } ?? (hasShort ? "    " : "")
        label += option.shownName
        if let placeholder = option.shownPlaceholder { label += " \(placeholder)" }
        return (label, option.fullHelp)
      })
  }

  mutating func list(_ title: String, _ rows: [(label: String, help: String)]) {
    guard !rows.isEmpty else { return }
    section(title)
    let longest = rows.map { DisplayWidth.of($0.label) }.max() ?? 0
    let column = min(longest, 28) + 4
    for row in rows {
      let label = "  " + row.label
      let lines = TextWrapping.lines(row.help, width: max(20, width - column))
      let labelWidth = DisplayWidth.of(label)
      // A long label is on its own line, so that the column stays narrow.
      if labelWidth + 2 > column {
        text += label + "\n" + String(repeating: " ", count: column)
      } else {
        text += label + String(repeating: " ", count: column - labelWidth)
      }
      text += lines.joined(separator: "\n" + String(repeating: " ", count: column)) + "\n"
    }
  }

  mutating func examples(_ examples: [Command.Example]) {
    guard !examples.isEmpty else { return }
    section("Examples")
    for example in examples {
      for line in TextWrapping.lines(example.purpose, width: width - 4) { text += "  # \(line)\n" }
      text += "  \(example.line)\n"
    }
  }
}

enum TextWrapping {
  /// Lines of at most `width` columns; a longer word is on its own line.
  static func lines(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      if !line.isEmpty, DisplayWidth.of(line) + 1 + DisplayWidth.of(String(word)) > width {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    if !line.isEmpty || lines.isEmpty { lines.append(line) }
    return lines
  }

  /// The paragraphs of a text, which empty lines separate.
  static func paragraphs(_ text: String) -> [String] {
    var paragraphs: [String] = []
    var current: [Substring] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.allSatisfy({ $0 == " " }) {
        if !current.isEmpty { paragraphs.append(current.joined(separator: " ")) }
        current = []
      } else {
        current.append(line)
      }
    }
    if !current.isEmpty { paragraphs.append(current.joined(separator: " ")) }
    return paragraphs
  }
}
