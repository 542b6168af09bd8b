import CommandLine

// Some contenders are this program itself, started as a child, so that memory and time are theirs.
if let role = Role(ProcessArguments.current) {
  role.run()
}
Program.run(BenchCommand.table) { arguments, diagnostics in
  try BenchCommand.run(arguments, diagnostics)
}
