/// Completions for GNU bash, without the bash-completion package.
enum BashCompletion {
  static func script(for root: Command) -> String {
    let paths = CommandPath(root).descendants
    let function = CompletionText.function(CommandPath(root))
    return """
      # bash completion for \(root.name)
      # Offers the words that begin with what is typed; in a list (first argument: a comma), after its last comma.
      \(function)_words() {
        local typed=$cur before="" word list=$1
        shift
        if [[ $list == "," && $cur == *,* ]]; then
          before="${cur%,*},"
          typed=${cur##*,}
        fi
        for word in "$@"; do
          # As it must be typed: a space in it needs a backslash.
          printf -v word %q "$word"
          [[ $word == "$typed"* ]] && COMPREPLY+=("$before$word")
        done
      }
      # Offers the options that are not given yet: an argument has all spellings of one, after a star if it may be
      # given more than once.
      \(function)_options() {
        local IFS=' ' option spelling
        local given=" ${COMP_WORDS[*]:1:COMP_CWORD-1} "
        for option in "$@"; do
          if [[ $option != "* "* ]]; then
            for spelling in $option; do [[ $given == *" $spelling "* ]] && continue 2; done
          fi
          for spelling in ${option#"* "}; do
            [[ $spelling == "$cur"* ]] && COMPREPLY+=("$spelling")
          done
        done
      }
      # Offers names of files (-f) or folders (-d).
      \(function)_files() {
        compopt -o filenames -o nosort 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$1" -- "$cur")
      }
      \(function)() {
        local cur="${COMP_WORDS[COMP_CWORD]}" prev="" word path=\(root.name) skip="" position=0 i
        COMPREPLY=()
        ((COMP_CWORD > 0)) && prev="${COMP_WORDS[COMP_CWORD - 1]}"
        # bash takes --name=value apart at the equals sign.
        if [[ $cur == "=" ]]; then
          cur=""
        elif [[ $prev == "=" ]]; then
          prev="${COMP_WORDS[COMP_CWORD - 2]}"
        fi
        # Which command and which argument is being completed, whatever options stand between the words.
        for ((i = 1; i < COMP_CWORD; i++)); do
          word="${COMP_WORDS[i]}"
          if [[ $word == "=" ]]; then
            skip=1
          elif [[ -n $skip ]]; then
            skip=""
          else
            case "$path $word" in
      \(commandCases(paths))\(valueCases(paths))        *" -"?*) ;;
              *) position=$((position + 1)) ;;
            esac
          fi
        done
        case "$path $prev" in
      \(values(paths, function))  esac
        case "$path" in
      \(words(paths, function))  esac
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

  private static func values(_ paths: [CommandPath], _ function: String) -> String {
    var text = ""
    for path in paths {
      for option in path.allOptions where option.placeholder != nil {
        let patterns = option.allSpellings.map { quoted("\(path.title) \($0)") }
        text += "    \(patterns.joined(separator: "|")))\n"
        let offer = "\(offer(option.completion, isList: option.isList, function)); return"
        // If the value may be omitted, a word that begins with a dash is the next option.
        text +=
          option.valueIsOptional
          ? "      [[ $cur == -* ]] || { \(offer); } ;;\n" : "      \(offer) ;;\n"
      }
    }
    return text
  }

  private static func words(_ paths: [CommandPath], _ function: String) -> String {
    paths.map { path in
      let options = path.allOptions.map { option in
        CompletionText.quoted(
          (option.isRepeatable ? "* " : "") + option.allSpellings.joined(separator: " "))
      }
      return """
            \(quoted(path.title)))
              if [[ $cur == -* ]]; then
                \(function)_options \(options.joined(separator: " "))
              else
                \(arguments(of: path.command, function))
              fi ;;

        """
    }.joined()
  }

  /// Offers subcommands, or what fits the argument at this position.
  private static func arguments(of command: Command, _ function: String) -> String {
    guard command.subcommands.isEmpty else {
      return offer(.words(command.shownSubcommands.map(\.name)), isList: false, function)
    }
    let offers = command.positionals.map { offer($0.completion, isList: false, function) }
    guard let last = offers.last else { return ":" }
    let isOpen = command.positionals.last.map { $0.count != .one && $0.count != .optional } ?? false
    guard offers.count > 1 || !isOpen else { return last }
    var cases = offers.enumerated().map { "\($0.offset)) \($0.element) ;;" }
    if isOpen { cases.append("*) \(last) ;;") }
    return "case $position in \(cases.joined(separator: " ")) esac"
  }

  private static func offer(
    _ completion: ValueCompletion, isList: Bool, _ function: String
  ) -> String {
    let start = "\(function)_words \(isList ? "," : "''")"
    let words = completion.words.map { " " + CompletionText.quoted($0) }.joined()
    switch completion {
    case .none: return ":"
    case .files: return "\(function)_files -f"
    case .folders: return "\(function)_files -d"
    case .words, .usually: return start + words
    case .found(let command, _, let files):
      let names = start + words + (command.map { " $(\($0) 2>/dev/null)" } ?? "")
      return files ? "\(names); \(function)_files -f" : names
    }
  }

  private static func quoted(_ text: String) -> String { "\"\(text)\"" }
}
