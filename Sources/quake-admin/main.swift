import QuakeTool

Tool.run(AdminCommand.table) { arguments, diagnostics in
  try AdminCommand.run(arguments, diagnostics)
}
