import CommandLine

// What tests look at in a process of its own: a scenario by its name, many clients of a server, or memory.
if ProcessArguments.current.count == 1 {
  Scenario.run(ProcessArguments.current[0])
} else if let streams = StreamsProbe(ProcessArguments.current) {
  streams.run()
} else {
  try await LiveProbe.run(ProcessArguments.current)
}
