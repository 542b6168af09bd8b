import CommandLine
import QuakeTool

/// `quake-watch`, and its subcommands for consumers. Their first word tells them apart: the command itself takes no
/// words, and its options stay as they are.
enum WatchTool {
  private static let consumers = Command(
    "quake-watch", purpose: "deliver changes and alerts to consumers", version: productVersion,
    options: Tool.commonOptions, subcommands: [RunCommand.table, RehearseCommand.table],
    environment: DatabaseAccess.environment + CommandConfiguration.environment
      + CommandVariables.help,
    exitStatuses: WatchCommand.table.exitStatuses)

  /// What completions offer: the options of the command itself, and the subcommands with all of theirs.
  private static var completed: Command {
    var command = WatchCommand.table
    command.subcommands = consumers.subcommands.map { subcommand in
      var subcommand = subcommand
      subcommand.options += consumers.options
      subcommand.standsAlone = true
      return subcommand
    }
    return command
  }

  static func main() -> Never {
    // Their table would stay in the memory of an idle watcher, which does not need it.
    let first = ProcessArguments.current.first
    guard ["run", "rehearse"].contains(first) else {
      Tool.run(WatchCommand.table, completed: completed) { arguments, diagnostics in
        try WatchCommand(arguments, diagnostics).run()
      }
    }
    // Before anything that takes time: a SIGHUP without a handler ends the process.
    if first == RunCommand.table.name { Signals.installReload() }
    Tool.run(
      consumers,
      complete: { try CommandConfiguration.complete($0, &$1, allowsSections: true) },
      body: { arguments, diagnostics in
        switch arguments.subcommand.first {
        case RehearseCommand.table.name: try RehearseCommand(arguments, diagnostics).run()
        default: try RunCommand(arguments, diagnostics).run()
        }
      })
  }
}

WatchTool.main()
