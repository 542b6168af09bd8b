import QuakeTool

Tool.run(IngestCommand.table, failure: IngestCommand.failure) { arguments, diagnostics in
  try IngestCommand.run(arguments, diagnostics)
}
