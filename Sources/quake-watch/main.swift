import QuakeTool

Tool.run(WatchCommand.table) { arguments, diagnostics in
  try WatchCommand(arguments, diagnostics).run()
}
