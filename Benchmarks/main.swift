import CommandLine

// Some contenders are this program, started as a child, so that its memory and time can be
// measured.
if let role = Role(ProcessArguments.current) {
  role.run()
}
Program.run(BenchCommand.table) { arguments, diagnostics in
  try BenchCommand.run(arguments, diagnostics)
}
