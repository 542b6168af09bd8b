import Basics
import CommandLine
import Glibc

/// Waits for commands.
final class CommandWait {
  /// Is called when waiting has lasted for `StallTimer.patience` since the last `reset`: the program does
  /// nothing else meanwhile.
  var onStall: (() -> Void)?
  private lazy var timer = StallTimer { [unowned self] in onStall?() }

  /// Begins to measure again.
  func reset() { timer.reset() }

  /// Gives `children` their input and waits until `isOver`.
  func wait(for children: [RunningChild], until isOver: () -> Bool) {
    for child in children { child.advance() }
    if isOver() { return }
    let mustLook = children.contains { !$0.reportsEnd }
    timer.wait { limit in
      var waiting = children.flatMap(\.descriptors)
      var timeout = limit?.pollTimeout ?? -1
      if mustLook {
        let interval = RunningChild.pollInterval.pollTimeout
        timeout = timeout < 0 ? interval : min(timeout, interval)
      }
      poll(&waiting, nfds_t(waiting.count), timeout)
      for child in children { child.advance() }
      return isOver()
    }
  }

  /// Whether a command ended because this program is being stopped: the service manager signals every
  /// process, and the command may get the signal first.
  func isInterruption(_ ending: ChildProcess.Ending) -> Bool {
    switch ending {
    case .signalled(SIGTERM), .signalled(SIGINT), .exited(128 + SIGTERM), .exited(128 + SIGINT):
      if !Signals.stopRequested { _ = Signals.wait(timeout: .milliseconds(200)) }
      return Signals.stopRequested
    default: return false
    }
  }
}
