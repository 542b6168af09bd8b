import QuakeTool

Tool.run(QueryCommand.table) { arguments, diagnostics in
  try QueryCommand.run(arguments, diagnostics)
}
