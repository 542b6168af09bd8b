/// A shell for which completions can be generated.
package enum Shell: String, Sendable, CaseIterable {
  /// GNU bash.
  case bash
  /// Z shell.
  case zsh
  case fish
}

extension Command {
  /// The script that teaches the shell this command's subcommands, options and values.
  package func completions(for shell: Shell) -> String {
    switch shell {
    case .bash: BashCompletion.script(for: self)
    case .zsh: ZshCompletion.script(for: self)
    case .fish: FishCompletion.script(for: self)
    }
  }
}

enum CompletionText {
  /// A name that is valid for a shell function: `_quake_ingest`.
  static func function(_ path: CommandPath) -> String {
    "_" + String(path.title.map { $0 == " " || $0 == "-" ? "_" : $0 })
  }

  /// The text in single quotes for a POSIX shell.
  static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}

extension Option {
  /// All spellings with their dashes.
  var allSpellings: [String] {
    (short.map { ["-\($0)"] } ?? []) + spellings.map { "--" + $0.name }
  }
}

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

/// Completions for zsh: one function a command, built on `_arguments`.
enum ZshCompletion {
  static func script(for root: Command) -> String {
    let paths = CommandPath(root).descendants
    let name = CompletionText.function(CommandPath(root))
    return "#compdef \(root.name)\n\n" + found(name) + "\n"
      + paths.map { function($0, name) }.joined(separator: "\n")
        + """

        # Loaded by compinit the file is the function's body; sourced, it declares it.
        if [[ $funcstack[1] == \(name) ]]; then
          \(name) "$@"
        else
          compdef \(name) \(root.name)
        fi

        """
  }

  /// Offers words and the lines that a command prints, before files.
  private static func found(_ root: String) -> String {
    """
    \(root)_found() {
      local command=$1 files=$2 ret=1 expl
      shift 2
      local -a names
      names=("$@")
      [[ -n $command ]] && names+=(${(f)"$(${=command} 2>/dev/null)"})
      _description -V names expl name
      compadd "$expl[@]" -a names && ret=0
      [[ -n $files ]] && _files && ret=0
      return ret
    }

    """
  }

  private static func function(_ path: CommandPath, _ root: String) -> String {
    let name = CompletionText.function(path)
    if path.command.passesThrough {
      let help = CompletionText.quoted("--help[\(escaped(Option.helpRequest.help))]")
      return "\(name)() {\n  _arguments \(help) '*: :_default'\n}\n"
    }
    var specifications = path.allOptions.flatMap { specification($0, root) }
    guard !path.command.subcommands.isEmpty else {
      for positional in path.command.positionals {
        let prefix =
          switch positional.count {
          case .one: ":"
          case .optional: "::"
          case .oneOrMore, .any, .passedThrough: "*:"
          }
        specifications.append(
          "\(prefix)\(escaped(positional.name)):\(action(positional.completion, isList: false, root))"
        )
      }
      return "\(name)() {\n  _arguments -s -S \\\n    "
        + specifications.map(CompletionText.quoted).joined(separator: " \\\n    ") + "\n}\n"
    }
    specifications += ["1: :->command", "*:: :->arguments"]
    let commands = path.command.shownSubcommands.map {
      "        " + CompletionText.quoted("\(escaped($0.name)):\($0.purpose)")
    }
    let cases = path.command.shownSubcommands.map {
      "        \($0.name)) \(CompletionText.function(path.appending($0))) ;;"
    }
    return """
      \(name)() {
        local context state state_descr line
        typeset -A opt_args
        _arguments -C -S \\
          \(specifications.map(CompletionText.quoted).joined(separator: " \\\n    "))
        case $state in
          command)
            local -a commands=(
      \(commands.joined(separator: "\n"))
            )
            _describe command commands ;;
          arguments)
            case $line[1] in
      \(cases.joined(separator: "\n"))
            esac ;;
        esac
      }

      """
  }

  private static func specification(_ option: Option, _ root: String) -> [String] {
    let spellings = option.allSpellings
    let exclusion = option.isRepeatable ? "*" : "(\(spellings.joined(separator: " ")))"
    return spellings.map { spelling in
      var text = exclusion + spelling
      // "=" allows both --name value and --name=value.
      if option.placeholder != nil, spelling.hasPrefix("--") { text += "=" }
      text += "[\(escaped(option.fullHelp))]"
      if let placeholder = option.placeholder {
        // Two colons: the value may be omitted.
        text += option.valueIsOptional ? "::" : ":"
        text += "\(escaped(placeholder)):\(action(option.completion, isList: option.isList, root))"
      }
      return text
    }
  }

  private static func action(
    _ completion: ValueCompletion, isList: Bool, _ root: String
  ) -> String {
    switch completion {
    case .none: " "
    case .files: "_files"
    case .folders: "_files -/"
    case .words(let words), .usually(let words, _, _):
      isList
        ? "_sequence compadd - \(words.map(word).joined(separator: " "))"
        : "(\(words.map(word).joined(separator: " ")))"
    case .found(let command, let words, let files):
      // The space at the start keeps _arguments from adding arguments of its own.
      " \(root)_found \(CompletionText.quoted(command ?? "")) \(files ? "files" : "''") "
        + words.map(word).joined(separator: " ")
    }
  }

  /// A word of a list, in which spaces separate words.
  private static func word(_ text: String) -> String {
    String(escaped(text).flatMap { $0 == " " ? ["\\", $0] : [$0] })
  }

  /// Escapes colons and brackets, which separate the fields of a specification.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      if ":[]\\".contains(character) { escaped += "\\" }
      escaped.append(character)
    }
    return escaped
  }
}
