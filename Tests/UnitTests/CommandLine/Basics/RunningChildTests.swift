import Glibc
import Testing

@testable import Basics

@Suite struct RunningChildTests {
  /// A shell that runs `command`.
  private func start(_ command: String, _ variables: [String: String] = [:]) throws -> RunningChild
  {
    var program = ChildProcess("/bin/sh", ["-c", command])
    program.environment = .inherited(variables.mapValues { $0 })
    return try RunningChild(program)
  }

  /// Advances it until it has ended.
  private func wait(_ child: RunningChild) throws -> ChildProcess.Ending {
    let deadline = ContinuousClock.now + .seconds(180)
    while ContinuousClock.now < deadline {
      if let ending = child.ending { return ending }
      var waiting = child.descriptors
      poll(&waiting, nfds_t(waiting.count), 10)
      child.advance()
    }
    child.signal(SIGKILL)
    return try #require(child.ending, "it did not end")
  }

  @Test func aRunningChildGetsMoreInputThanFitsIntoAPipePieceByPiece() throws {
    // The shell compares, so that nothing has to be read back.
    let child = try start("test \"$(cksum)\" = \"$(seq 100000 | cksum)\"")
    let bytes = Array((1...100_000).map { "\($0)\n" }.joined().utf8)
    child.give(Array(bytes[..<300_000]))
    child.give(Array(bytes[300_000...]), isLast: true)
    #expect(try wait(child) == .exited(0))
    #expect(!child.isTaking)
  }

  @Test func aRunningChildNeedNotReadItsInput() throws {
    let child = try start("exec <&-; exit 3")
    child.give([UInt8](repeating: 0x61, count: 1 << 20), isLast: true)
    #expect(try wait(child) == .exited(3))
    child.give([0x61])
    #expect(!child.isTaking)
  }

  @Test func aRunningChildThatHasEndedNeedsNoInputEvenIfAnotherProcessHasThePipe() throws {
    let child = try start("exec 3<&0; sleep 600 & exit 0")
    child.give([UInt8](repeating: 0x61, count: 1 << 20), isLast: true)
    #expect(try wait(child) == .exited(0))
    #expect(!child.isTaking)
    kill(-child.pid, SIGKILL)
  }

  @Test func aRunningChildReportsWhetherItExitedOrASignalEndedIt() throws {
    #expect(try wait(start("exit 7")) == .exited(7))
    #expect(try wait(start("kill -9 $$")) == .signalled(SIGKILL))
    let child = try start("sleep 600; :")
    child.signal(SIGTERM)
    #expect(try wait(child) == .signalled(SIGTERM))
  }

  @Test func aRunningChildReportsItsEndAtOnceIfTheSystemSupportsIt() throws {
    let child = try start("cat")
    guard child.reportsEnd else { return }
    child.give([], isLast: true)
    var waiting = child.descriptors
    #expect(poll(&waiting, nfds_t(waiting.count), 180_000) == 1 && waiting[1].revents != 0)
    child.advance()
    #expect(child.ending == .exited(0))
  }

  @Test func aRunningChildIsInAProcessGroupOfItsOwnWithDefaultSignals() throws {
    // What the shell itself has open and blocked changes with what it does.
    let child = try start(
      """
      test "$(cut -d ' ' -f 5 /proc/$$/stat)" = $$ &&
        test "$(grep -cE '^Sig(Blk|Ign):.*[08]0000000$' /proc/self/status)" = 2 &&
        test "$(ls /proc/self/fd | wc -l)" = 4 && test "$A" = "it's \\"so\\""
      """, ["A": "it's \"so\""])
    child.give([], isLast: true)
    #expect(try wait(child) == .exited(0))
  }
}
