internal import CommandLine

/// The documents that a tool prints for packagers and `make install`: its manual page and its completion
/// scripts, generated from the same table as its help.
enum GeneratedDocuments {
  static let options: [Option] = [
    .flag("man", help: "print the manual page (as the only argument)")
      .onCommandLineOnly(),
    .value(
      "completions", "SHELL", completion: .words(Shell.allCases.map(\.rawValue)),
      help: "print completions for bash, zsh or fish (as the only argument)"
    ).onCommandLineOnly(),
  ]

  /// The document that the arguments request, or nil if there are other arguments: after a subcommand, the
  /// same words may mean something else.
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
