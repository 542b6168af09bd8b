internal import CommandLine

/// What packagers and `make install` take from a tool itself: its manual page and its completion
/// scripts, made from the same table as its help.
enum GeneratedDocuments {
  static let options: [Option] = [
    .flag("man", help: "print the manual page (as the only argument)")
      .onCommandLineOnly(),
    .value(
      "completions", "SHELL", completion: .words(Shell.allCases.map(\.rawValue)),
      help: "print completions for bash, zsh or fish (as the only argument)"
    ).onCommandLineOnly(),
  ]

  /// The document that the arguments ask for, if that is all they ask; a command line that also names
  /// a subcommand means something else.
  static func requested(_ arguments: [String], of command: Command) -> String? {
    if arguments == ["--man"] {
      return command.manPage(date: productDate, manual: "Quake \(productVersion)")
    }
    guard arguments.count == 2, arguments[0] == "--completions",
      let shell = Shell(rawValue: arguments[1])
    else { return nil }
    return command.completions(for: shell)
  }
}
