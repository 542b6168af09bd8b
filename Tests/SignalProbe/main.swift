import CommandLine

Scenario.run(ProcessArguments.current.first)
