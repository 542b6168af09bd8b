/// Completions for GNU bash, without the bash-completion package.
enum BashCompletion {
  static func script(for root: Command) -> String {
    let paths = CommandPath(root).descendants
    let function = CompletionText.function(CommandPath(root))
    return """
      # bash completion for \(root.name)
      \(function)() {
        local cur="${COMP_WORDS[COMP_CWORD]}" prev="" word path=\(root.name) skip="" i
        ((COMP_CWORD > 0)) && prev="${COMP_WORDS[COMP_CWORD - 1]}"
        # bash takes --name=value apart at the equals sign.
        if [[ $cur == "=" ]]; then
          cur=""
        elif [[ $prev == "=" ]]; then
          prev="${COMP_WORDS[COMP_CWORD - 2]}"
        fi
        # Which command is being completed, whatever options stand between the words.
        for ((i = 1; i < COMP_CWORD; i++)); do
          word="${COMP_WORDS[i]}"
          if [[ $word == "=" ]]; then
            skip=1
          elif [[ -n $skip ]]; then
            skip=""
          else
            case "$path $word" in
      \(commandCases(paths))\(valueCases(paths))      esac
          fi
        done
        local IFS=$'\\n'
        case "$path $prev" in
      \(values(paths))  esac
        case "$path" in
      \(words(paths))  esac
      }
      complete -F \(function) \(root.name)

      """
  }

  private static func commandCases(_ paths: [CommandPath]) -> String {
    paths.dropFirst().map { "        \(quoted($0.title))) path=\(quoted($0.title)) ;;\n" }.joined()
  }

  /// Skips the word after an option with a value, which is not a subcommand.
  private static func valueCases(_ paths: [CommandPath]) -> String {
    let cases = paths.flatMap { path in
      path.allOptions.filter { $0.placeholder != nil && !$0.valueIsOptional }.flatMap { option in
        option.allSpellings.map { quoted("\(path.title) \($0)") }
      }
    }
    return cases.isEmpty ? "" : "        \(cases.joined(separator: "|"))) skip=1 ;;\n"
  }

  private static func values(_ paths: [CommandPath]) -> String {
    var text = ""
    for path in paths {
      for option in path.allOptions where option.placeholder != nil {
        let patterns = option.allSpellings.map { quoted("\(path.title) \($0)") }
        text += "    \(patterns.joined(separator: "|")))\n"
        let reply = "\(reply(option.completion, [])) ; return"
        // If the value may be omitted, a word that begins with a dash is the next option.
        text +=
          option.valueIsOptional
          ? "      [[ $cur == -* ]] || { \(reply); } ;;\n" : "      \(reply) ;;\n"
      }
    }
    return text
  }

  private static func words(_ paths: [CommandPath]) -> String {
    paths.map { path in
      let options = path.allOptions.flatMap(\.allSpellings)
      let commands = path.command.subcommands.map(\.name)
      let argument = path.command.positionals.last?.completion ?? .none
      return """
            \(quoted(path.title)))
              if [[ $cur == -* ]]; then
                \(reply(.words(options), []))
              else
                \(reply(argument, commands))
              fi ;;

        """
    }.joined()
  }

  private static func reply(_ completion: ValueCompletion, _ commands: [String]) -> String {
    switch completion {
    case .none where commands.isEmpty: return "COMPREPLY=()"
    case .none: return words(commands)
    case .files: return "COMPREPLY=($(compgen -f -- \"$cur\"))"
    case .folders: return "COMPREPLY=($(compgen -d -- \"$cur\"))"
    case .words(let values): return words(commands + values)
    }
  }

  private static func words(_ words: [String]) -> String {
    // IFS is a line feed, so that file names may contain spaces; it also separates the words.
    let list = words.joined(separator: "\\n")
    return "COMPREPLY=($(compgen -W $'\(list)' -- \"$cur\"))"
  }

  private static func quoted(_ text: String) -> String { "\"\(text)\"" }
}
