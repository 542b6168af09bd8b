import CommandLine

// Some contenders are this program, started as a child, so that its memory and time can be
// measured.
if let role = Role(ProcessArguments.current) {
  role.run()
}
if let load = StreamLoad.Settings(ProcessArguments.current) {
  try StreamLoad(load).run()
} else {
  Program.run(BenchCommand.table) { arguments, diagnostics in
    try BenchCommand.run(arguments, diagnostics)
  }
}
