import CommandLine
import QuakeTool

Tool.run(
  ServeCommand.table,
  complete: { try CommandConfiguration.complete($0, &$1) }
) { arguments, diagnostics in
  try ServeCommand(arguments, diagnostics).run()
}
