import CommandLine

// What tests look at in a process of its own: a scenario by its name, or memory by three arguments.
if ProcessArguments.current.count == 1 {
  Scenario.run(ProcessArguments.current[0])
} else {
  try await LiveProbe.run(ProcessArguments.current)
}
