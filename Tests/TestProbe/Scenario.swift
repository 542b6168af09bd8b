import CommandLine
import Glibc

/// What `SignalsTests` and `ProgramTests` look at: each in a process of its own, since signals and the
/// environment belong to the whole process. Where nothing else ends it, it ends with status 7 if all was as it
/// should be.
enum Scenario {
  static func run(_ name: String) {
    switch name {
    case "int-after-term": intAfterTerm()
    case "term-twice":
      Signals.install()
      raise(SIGTERM)
      raise(SIGTERM)
    case "wake": wake()
    case "readable": readable()
    case "defaults":
      Signals.install()
      Signals.restoreDefaults()
      raise(SIGTERM)
    case "hang-up-twice": hangUp(ignored: false)
    case "hang-up-ignored": hangUp(ignored: true)
    case "environment":
      let values = ["COMMAND_LINE_TEST", "COMMAND_LINE_NONE"].map { Environment.value($0) }
      exit(values == ["", nil] ? 7 : 1)
    default: exit(64)
    }
  }

  private static func intAfterTerm() {
    Signals.install()
    raise(SIGTERM)
    guard Signals.stopRequested, Signals.stopSignalNumber == SIGTERM else { exit(1) }
    raise(SIGINT)
  }

  private static func hangUp(ignored: Bool) {
    if ignored { signal(SIGHUP, SIG_IGN) }
    Signals.install()
    for _ in 0..<2 { raise(SIGHUP) }
    exit(Signals.stopSignalNumber == (ignored ? nil : SIGHUP) ? 7 : 1)
  }

  private static func wake() {
    guard Signals.wakeDescriptor == -1, !Signals.stopRequested else { exit(1) }
    Signals.install()
    Signals.install()
    raise(SIGTERM)
    var polled = pollfd(fd: Signals.wakeDescriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&polled, 1, 30_000) == 1 else { exit(2) }
    Signals.drainWake()
    guard poll(&polled, 1, 0) == 0, Signals.stopRequested else { exit(3) }
    // A loop that waits after the signal must not wait.
    guard !Signals.wait(timeout: .seconds(30)) else { exit(4) }
    exit(7)
  }

  private static func readable() {
    Signals.install()
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { exit(1) }
    guard !Signals.wait(forReadable: ends[0], timeout: .zero) else { exit(2) }
    var byte: UInt8 = 0
    write(ends[1], &byte, 1)
    guard Signals.wait(forReadable: ends[0], timeout: .seconds(30)) else { exit(3) }
    exit(7)
  }
}
