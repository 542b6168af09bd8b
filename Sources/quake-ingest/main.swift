import QuakeTool

Tool.run(IngestCommand.table, complete: IngestConfiguration.complete) { arguments, diagnostics in
  try IngestCommand.run(arguments, diagnostics)
}
