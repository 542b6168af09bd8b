import ChildProcesses
import CommandLine
import Glibc
import SystemClock

/// Waiting for commands.
final class CommandWait {
  /// Called when waiting has lasted for `StallTimer.patience` since the last `reset`: all else is
  /// neglected meanwhile.
  var onStall: (() -> Void)?
  private lazy var timer = StallTimer { [unowned self] in onStall?() }

  /// Counts from nothing again.
  func reset() { timer.reset() }

  /// Feeds `children` and looks after them until `isOver`.
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

  /// Whether a command ended because this program is being ended: who stops a service or shuts the
  /// machine down signals every process, and the command may get it first.
  func isInterruption(_ ending: ChildProcess.Ending) -> Bool {
    switch ending {
    case .signalled(SIGTERM), .signalled(SIGINT), .exited(128 + SIGTERM), .exited(128 + SIGINT):
      if !Signals.stopRequested { _ = Signals.wait(timeout: .milliseconds(200)) }
      return Signals.stopRequested
    default: return false
    }
  }
}
