import Glibc
import Testing

@testable import CommandLine

/// Sends a signal to this thread, even if it is one of those on which signals are held back.
private func deliver(_ number: Int32) {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, number)
  pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  raise(number)
}

/// Each in a process of its own, since signals belong to the whole process.
@Suite struct SignalsTests {
  @Test func theFirstAsksTheSecondEnds() async {
    await #expect(processExitsWith: .exitCode(130)) {
      Signals.install()
      deliver(SIGTERM)
      guard Signals.stopRequested, Signals.stopSignalNumber == SIGTERM else { exit(1) }
      deliver(SIGINT)
    }
    await #expect(processExitsWith: .exitCode(143)) {
      Signals.install()
      deliver(SIGTERM)
      deliver(SIGTERM)
    }
  }

  @Test func aSignalWakesThePoll() async {
    await #expect(processExitsWith: .exitCode(7)) {
      guard Signals.wakeDescriptor == -1, !Signals.stopRequested else { exit(1) }
      Signals.install()
      Signals.install()
      deliver(SIGTERM)
      var polled = pollfd(fd: Signals.wakeDescriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&polled, 1, 30_000) == 1 else { exit(2) }
      Signals.drainWake()
      guard poll(&polled, 1, 0) == 0, Signals.stopRequested else { exit(3) }
      // A loop that waits after the signal must not wait.
      guard !Signals.wait(timeout: .seconds(30)) else { exit(4) }
      exit(7)
    }
  }

  @Test func aHangupIsAFlagThatIsTaken() async {
    await #expect(processExitsWith: .exitCode(7)) {
      Signals.install(hangup: true)
      deliver(SIGHUP)
      guard !Signals.wait(timeout: .seconds(30)) else { exit(1) }
      guard Signals.takeHangup(), !Signals.takeHangup(), !Signals.stopRequested else { exit(2) }
      exit(7)
    }
  }

  @Test func waitingTellsWhetherThereIsSomethingToRead() async {
    await #expect(processExitsWith: .exitCode(7)) {
      Signals.install()
      guard let pipe = try? Pipe() else { exit(1) }
      guard !Signals.wait(forReadable: pipe.readEnd, timeout: .zero) else { exit(2) }
      var byte: UInt8 = 0
      write(pipe.writeEnd, &byte, 1)
      guard Signals.wait(forReadable: pipe.readEnd, timeout: .seconds(30)) else { exit(3) }
      exit(7)
    }
  }

  @Test func defaultsComeBack() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      Signals.install()
      Signals.restoreDefaults()
      deliver(SIGTERM)
    }
  }
}
