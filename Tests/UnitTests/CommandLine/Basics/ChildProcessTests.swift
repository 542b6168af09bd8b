import Glibc
import Testing

@testable import Basics

@Suite struct ChildProcessTests {
  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test func aChildGetsItsArgumentsUnchangedWithoutAShell() throws {
    let words = ["$HOME", "a b", "'", "\"", "*", ""]
    let outcome = try ChildProcess("/usr/bin/printf", ["%s|"] + words).run()
    #expect(outcome.succeeded)
    #expect(text(outcome.output) == words.map { $0 + "|" }.joined())
  }

  @Test func aChildCanReadMoreInputThanFitsIntoAPipeWhileItsOutputIsRead() throws {
    var child = ChildProcess("/bin/cat")
    child.input = [UInt8](repeating: 7, count: 1 << 20)
    let outcome = try child.run()
    #expect(outcome.output == child.input)
  }

  @Test func aChildMayEndWithoutReadingItsInput() throws {
    var child = ChildProcess("/bin/true")
    child.input = [UInt8](repeating: 7, count: 1 << 20)
    #expect(try child.run().succeeded)
  }

  @Test func aChildHasAStatusAndItsErrors() throws {
    let outcome = try ChildProcess("/bin/sh", ["-c", "echo no >&2; exit 3"]).run()
    #expect(outcome.ending == .exited(3))
    #expect(text(outcome.errors) == "no\n")
    #expect(try ChildProcess("/bin/sh", ["-c", "kill -9 $$"]).run().ending == .signalled(SIGKILL))
  }

  @Test func aChildThatDoesNotExistCausesAnError() {
    let error = #expect(throws: ChildProcess.LaunchError.self) {
      try ChildProcess("/usr/bin/no-such-program").run()
    }
    #expect(error?.code == ENOENT)
  }

  @Test func aChildKeepsTheEndOfALongOutput() throws {
    var child = ChildProcess("/usr/bin/seq", ["100000"])
    child.outputLimit = 7
    #expect(text(try child.run().output) == "100000\n")
  }

  @Test func aChildIsKilledAfterItsTimeoutIfItIgnoresSIGTERM() throws {
    // An ignored signal stays ignored in the program that the shell becomes.
    var child = ChildProcess("/bin/sh", ["-c", "trap '' TERM; echo ignores; exec sleep 600"])
    var timeout = Duration.milliseconds(50)
    while true {
      child.timeout = timeout
      let outcome = try child.run()
      #expect(outcome.ending == .timedOut)
      if text(outcome.output) == "ignores\n" { break }
      // The first SIGTERM came before the shell could ignore it.
      timeout *= 2
      try #require(timeout < .seconds(100))
    }
  }

  @Test func aChildIsNotWaitedForLongerBecauseOfAGrandchild() throws {
    var child = ChildProcess("/bin/sh", ["-c", "tail -f /dev/null & echo $!"])
    child.timeout = .seconds(180)
    let outcome = try child.run()
    #expect(outcome.succeeded)
    let pid = try #require(pid_t(text(outcome.output).dropLast()))
    kill(pid, SIGKILL)
  }

  @Test func aChildSeesTheCallersEnvironmentWithChangesOrAnotherOne() throws {
    var child = ChildProcess("/usr/bin/env")
    child.environment = .exactly(["ONLY": "this"])
    #expect(text(try child.run().output) == "ONLY=this\n")
    child.environment = .inherited(["PATH": nil, "EXTRA": "1"])
    let lines = text(try child.run().output).split(separator: "\n")
    #expect(lines.contains("EXTRA=1"))
    #expect(!lines.contains { $0.hasPrefix("PATH=") })
    #expect(lines.count > 1)
  }

  @Test func aChildInheritsNoDescriptor() throws {
    let leaking = open("/etc/hostname", O_RDONLY)
    defer { close(leaking) }
    let outcome = try ChildProcess("/bin/ls", ["/proc/self/fd"]).run()
    // The fourth is the folder that it reads.
    #expect(text(outcome.output) == "0\n1\n2\n3\n")
  }
}
