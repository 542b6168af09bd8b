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
