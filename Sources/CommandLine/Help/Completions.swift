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

/// Functions that the scripts share.
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
