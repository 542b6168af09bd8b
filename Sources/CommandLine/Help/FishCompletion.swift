/// Completions for fish.
enum FishCompletion {
  static func script(for root: Command) -> String {
    let paths = CommandPath(root).descendants
    let function = "_" + CompletionText.function(CommandPath(root)) + "_at"
    var text = """
      # fish completion for \(root.name)
      # Whether the command line so far names exactly this command, whatever its options.
      function \(function)
        set -l path \(root.name)
        set -l skip 0
        for word in (commandline -opc)[2..-1]
          if test $skip = 1
            set skip 0
            continue
          end
          switch "$path $word"

      """
    for path in paths.dropFirst() {
      text += "      case \(quoted(path.title))\n        set path \(quoted(path.title))\n"
    }
    let withValue = paths.flatMap { path in
      path.allOptions.filter { $0.placeholder != nil && !$0.valueIsOptional }.flatMap { option in
        option.allSpellings.map { quoted("\(path.title) \($0)") }
      }
    }
    if !withValue.isEmpty {
      text += "      case \(withValue.joined(separator: " "))\n        set skip 1\n"
    }
    text += "    end\n  end\n  test \"$path\" = \"$argv[1]\"\nend\n"
    text += "complete -c \(root.name) -f\n"
    for path in paths { text += lines(for: path, root: root.name, function: function) }
    return text
  }

  private static func lines(for path: CommandPath, root: String, function: String) -> String {
    let start = "complete -c \(root) -n \(quoted("\(function) \"\(path.title)\""))"
    var text = ""
    for command in path.command.subcommands {
      text += "\(start) -a \(command.name) -d \(quoted(command.purpose))\n"
    }
    for option in path.allOptions {
      for spelling in option.spellings {
        text += start + " -l \(spelling.name)"
        // Only the spelling that turns a toggle on has the short name.
        if let short = option.short, spelling.isOn { text += " -s \(short)" }
        // -x requires a value and, unlike -r, does not offer files.
        if option.placeholder != nil, !option.valueIsOptional {
          text += option.completion == .files ? " -r" : " -x"
        }
        text += "\(values(option.completion)) -d \(quoted(option.fullHelp))\n"
      }
    }
    for positional in path.command.positionals {
      let values = values(positional.completion)
      if !values.isEmpty { text += start + values + "\n" }
    }
    return text
  }

  private static func values(_ completion: ValueCompletion) -> String {
    switch completion {
    case .none: ""
    case .files: " -F"
    case .folders: " -a '(__fish_complete_directories)'"
    case .words(let words): " -a \(quoted(words.joined(separator: " ")))"
    }
  }

  /// The text in single quotes, within which fish has two escapes.
  private static func quoted(_ text: String) -> String {
    var quoted = "'"
    for character in text {
      if character == "'" || character == "\\" { quoted += "\\" }
      quoted.append(character)
    }
    return quoted + "'"
  }
}
