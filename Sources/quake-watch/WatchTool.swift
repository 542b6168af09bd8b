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

  static func main() -> Never {
    // Their table would stay in the memory of an idle watcher, which does not need it.
    guard ["run", "rehearse"].contains(ProcessArguments.current.first) else {
      Tool.run(WatchCommand.table) { arguments, diagnostics in
        try WatchCommand(arguments, diagnostics).run()
      }
    }
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
