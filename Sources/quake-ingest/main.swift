import QuakeTool

Tool.run(
  IngestCommand.table, failure: IngestCommand.failure, complete: IngestConfiguration.complete
) { arguments, diagnostics in
  try IngestCommand.run(arguments, diagnostics)
}
