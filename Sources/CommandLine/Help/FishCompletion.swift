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
    text += """
      # The words of a list, after what is typed of it up to the last comma.
      function \(listFunction(root))
        set -l typed (string replace -r -- '^--[^=]*=' '' (commandline -ct))
        set -l before (string match -r -- '^.*,' $typed)
        for word in $argv
          echo "$before$word"
        end
      end

      """
    text += "complete -c \(root.name) -f\n"
    for path in paths { text += lines(for: path, root: root, function: function) }
    return text
  }

  private static func listFunction(_ root: Command) -> String {
    "_" + CompletionText.function(CommandPath(root)) + "_list"
  }

  private static func lines(for path: CommandPath, root: Command, function: String) -> String {
    let list = listFunction(root)
    let start = "complete -c \(root.name) -n \(quoted("\(function) \"\(path.title)\""))"
    var text = ""
    for command in path.command.shownSubcommands {
      text += "\(start) -a \(command.name) -d \(quoted(command.purpose))\n"
    }
    for option in path.allOptions {
      for spelling in option.spellings {
        text += start + " -l \(spelling.name)"
        // Only the spelling that turns a toggle on has the short name.
        if let short = option.short, spelling.isOn { text += " -s \(short)" }
        // -x requires a value and, unlike -r, does not offer files.
        if option.placeholder != nil, !option.valueIsOptional {
          text += offersFiles(option.completion) ? " -r" : " -x"
        }
        let values = values(option.completion, list: option.isList ? list : nil)
        text += "\(values) -d \(quoted(option.fullHelp))\n"
      }
    }
    for positional in path.command.positionals {
      let values = values(positional.completion, list: nil)
      if !values.isEmpty { text += start + values + "\n" }
    }
    return text
  }

  private static func offersFiles(_ completion: ValueCompletion) -> Bool {
    switch completion {
    case .files, .found(_, _, files: true): true
    default: false
    }
  }

  /// - Parameter function: The function that completes a list; nil: the value is no list.
  private static func values(_ completion: ValueCompletion, list function: String?) -> String {
    switch completion {
    case .none: return ""
    case .files: return " -F"
    case .folders: return " -a '(__fish_complete_directories)'"
    case .words(let words), .usually(let words, _, _):
      let list = words.map(word).joined(separator: " ")
      return " -a \(quoted(function.map { "(\($0) \(list))" } ?? list))"
    case .found(let command, let words, let files):
      let list = (words.map(word) + (command.map { ["(\($0) 2>/dev/null)"] } ?? []))
        .joined(separator: " ")
      // -k keeps the names before the files.
      return " -k -a \(quoted(list))" + (files ? " -F" : "")
    }
  }

  /// A word of a list, in which spaces separate words.
  private static func word(_ text: String) -> String {
    String(text.flatMap { $0 == " " ? ["\\", $0] : [$0] })
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
