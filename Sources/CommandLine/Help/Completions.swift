/// A shell for which completions can be generated.
package enum Shell: String, Sendable, CaseIterable {
  /// GNU bash.
  case bash
  /// Z shell.
  case zsh
  case fish
}

/// What a shell may offer for the last word of a command line.
package struct Candidates: Equatable {
  /// The word before the others on a command line of `ask`: it requests the candidates for the last of them.
  package static let request = "--candidates"

  /// The candidates, each with its purpose after a tab if it has one. A line that begins with a tab and `files` or
  /// `folders` asks the shell to offer such names, too.
  package var lines: [String] = []
  /// The kind of the names that a database has for it, such as `feeds`.
  package var stored: String?
  /// What is typed of a list up to its last comma.
  private var before = ""

  /// The candidates for the last of the words that follow a command's name. An equals sign may be a word by itself:
  /// bash takes `--name=value` apart. The shell leaves out those that do not begin with what is typed.
  package init(_ command: Command, _ words: [String]) {
    var line = TypedLine(command)
    for word in words.dropLast() { line.take(word) }
    let word = words.last ?? ""
    if let option = line.pending, !(option.valueIsOptional && word.hasPrefix("-")) {
      add(option.completion, isList: option.isList, typed: word == "=" ? "" : word[...])
    } else if line.optionsEnded || !word.hasPrefix("-") {
      addArguments(of: line)
    } else if let equals = word.firstIndex(of: "="), let option = line.option(word[..<equals]) {
      add(option.completion, isList: option.isList, typed: word[equals...].dropFirst())
    } else {
      for option in line.path.allOptions where option.isRepeatable || !line.given.contains(option) {
        lines += option.allSpellings.map { "\($0)\t\(option.fullHelp)" }
      }
    }
  }

  /// Adds names that the database has, but for those that a shell would interpret.
  package mutating func add(stored names: [String]) {
    lines += names.filter { $0.utf8.allSatisfy(Self.isPlain) }.map { before + $0 }
  }

  private mutating func addArguments(of line: TypedLine) {
    let command = line.path.command
    lines = command.subcommands.map { "\($0.name)\t\($0.purpose)" }
    guard let last = command.positionals.last else { return }
    let isOpen = last.count != .one && last.count != .optional
    if line.position < command.positionals.count {
      add(command.positionals[line.position].completion)
    } else if isOpen {
      add(last.completion)
    }
  }

  private mutating func add(
    _ completion: ValueCompletion, isList: Bool = false, typed: Substring = ""
  ) {
    if isList, let comma = typed.lastIndex(of: ",") {
      before = String(typed[...comma].replacing("\\ ", with: " "))
    }
    let given = before.split(separator: ",").map(String.init)
    lines = completion.words.filter { !given.contains($0) }.map { before + $0 }
    switch completion {
    case .files: lines.append("\tfiles")
    case .folders: lines.append("\tfolders")
    case .found(let kind, _, let files):
      stored = kind
      if files { lines.append("\tfiles") }
    case .none, .words, .usually: break
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "._-:/@+".utf8.contains(byte)
    }
  }
}

/// A command line that is being typed, and may be wrong.
private struct TypedLine {
  var path: CommandPath
  /// The options that it has.
  var given: [Option] = []
  /// The number of arguments of the command that it has.
  var position = 0
  /// The option whose value the next word is.
  var pending: Option?
  var optionsEnded = false

  init(_ command: Command) { path = CommandPath(command) }

  func option(_ spelling: some StringProtocol) -> Option? {
    path.allOptions.first { $0.allSpellings.contains { $0 == spelling } }
  }

  mutating func take(_ word: String) {
    if let option = pending {
      if word == "=" { return }
      pending = nil
      if !option.valueIsOptional || !word.hasPrefix("-") { return }
    }
    if optionsEnded || word == "-" || !word.hasPrefix("-") {
      takeWord(word)
    } else if word == "--" {
      optionsEnded = true
    } else if let option = option(word.prefix { $0 != "=" }) {
      given.append(option)
      if option.placeholder != nil, !word.contains("=") { pending = option }
    }
  }

  private mutating func takeWord(_ word: String) {
    if let chosen = path.command.subcommands.first(where: { $0.name == word }) {
      path = path.appending(chosen)
      optionsEnded = chosen.passesThrough
    } else if path.command.subcommands.isEmpty {
      position += 1
    }
  }
}

extension Option {
  /// All spellings with their dashes.
  fileprivate var allSpellings: [String] {
    (short.map { ["-\($0)"] } ?? []) + spellings.map { "--" + $0.name }
  }
}

extension Command {
  /// The script with which the shell asks the tool for ``Candidates``.
  package func completions(for shell: Shell) -> String {
    let function = "_" + name.map { $0 == "-" ? "_" : String($0) }.joined()
    // They run the tool as it is called on the command line, which need not be in PATH.
    return switch shell {
    case .bash:
      """
      # bash completion for \(name)
      \(function)() {
        local cur=${COMP_WORDS[COMP_CWORD]} line word lines files=""
        [[ $cur == "=" ]] && cur=""
        COMPREPLY=()
        mapfile -t lines < <(
          "${COMP_WORDS[0]/#\\~/$HOME}" \(Candidates.request) "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
        for line in "${lines[@]}"; do
          # As it must be typed: a space in it needs a backslash.
          word=${line%%$'\\t'*}
          word=${word// /\\\\ }
          case $line in
            $'\\tfiles') files=-f ;;
            $'\\tfolders') files=-d ;;
            *) [[ $word == "$cur"* ]] && COMPREPLY+=("$word") ;;
          esac
        done
        [[ -n $files ]] || return 0
        compopt -o filenames -o nosort 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$files" -- "$cur")
      }
      complete -F \(function) \(name)

      """
    case .zsh:
      """
      #compdef \(name)

      _\(name)() {
        local line ret=1 tool=${(Q)words[1]}
        local -a names files
        for line in ${(f)"$(${tool/#\\~/$HOME} \(Candidates.request) "${(@Q)words[2,CURRENT]}" 2>/dev/null)"}; do
          case $line in
            $'\\tfiles') files=(_files) ;;
            $'\\tfolders') files=(_files -/) ;;
            *) line=${line//:/\\\\:}; names+=("${line/$'\\t'/:}") ;;
          esac
        done
        # Of --name=value only the value is offered.
        compset -P 1 '--*='
        _describe -V value names && ret=0
        (( $#files )) && $files && ret=0
        return ret
      }

      # Loaded by compinit the file of this name is the function's body; sourced, it declares it.
      if [[ $funcstack[1] == _\(name) ]]; then
        _\(name) "$@"
      else
        compdef _\(name) \(name)
      fi

      """
    case .fish:
      """
      # fish completion for \(name)
      function \(function)
        set -l words (commandline -opc)
        set -l tool (string replace -r -- '^~' "$HOME" $words[1])
        set -l token (commandline -ct)
        # Of --name=value only the value is offered.
        set -l before (string match -r -- '^--[^=]*=' "$token")
        set -l value (string replace -r -- '^--[^=]*=' '' "$token")
        for line in ($tool \(Candidates.request) $words[2..-1] "$token" 2>/dev/null)
          switch $line
            case \\tfiles
              __fish_complete_path $value | string replace -r -- '^' "$before"
            case \\tfolders
              __fish_complete_directories $value | string replace -r -- '^' "$before"
            case '*'
              echo "$before$line"
          end
        end
      end
      complete -c \(name) -f -k -a '(\(function))'

      """
    }
  }
}
