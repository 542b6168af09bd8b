import Basics
import Glibc
import Synchronization

/// Turns signals into flags that a loop can check, and wakes poll(2).
///
/// The first SIGINT or SIGTERM asks the program to finish the work in progress; the second one ends the
/// process at once with status 128 + the signal's number. A terminal that is closed (SIGHUP) asks for the same as the
/// first, unless the program was started with `nohup`, or reads its configuration anew at that signal.
package enum Signals {
  /// Installs a handler for SIGHUP, which asks the program to read its configuration anew. It does not wake what waits
  /// for `wakeDescriptor`: work in hand goes on to its end.
  package static func installReload() {
    _ = reloadSignals.load(ordering: .sequentiallyConsistent)
    openPipe(reloadReadEnd, reloadWriteEnd)
    handle(SIGHUP, with: reloadHandler, flags: SA_RESTART)
  }

  /// Whether SIGHUP has arrived since the last call.
  package static func takeReloadRequest() -> Bool {
    drain(reloadDescriptor)
    return reloadSignals.exchange(0, ordering: .sequentiallyConsistent) > 0
  }

  /// Installs the handlers and ignores SIGPIPE and SIGXFSZ; a second call changes nothing.
  ///
  /// Signals interrupt system calls (EINTR), so that a blocked one returns.
  package static func install() {
    ignoreFailedWrites()
    _ = stopRequested
    openPipe(wakeReadEnd, wakeWriteEnd)
    handle(SIGINT, with: stopHandler)
    handle(SIGTERM, with: stopHandler)
    var current = sigaction()
    sigaction(SIGHUP, nil, &current)
    if current.__sigaction_handler.sa_handler == nil { handle(SIGHUP, with: hangUpHandler) }
  }

  /// Ignores SIGPIPE and SIGXFSZ, so that writing to a closed pipe, or more to a file than its limit allows, is an error
  /// that can be handled.
  package static func ignoreFailedWrites() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Restores the default effect of every signal. Call it just before exec(3), because the new program would
  /// inherit the ignored ones.
  package static func restoreDefaults() {
    for number in [SIGPIPE, SIGXFSZ, SIGINT, SIGTERM] { signal(number, SIG_DFL) }
  }

  package static var stopRequested: Bool { stopSignalNumber != nil }

  package static var stopSignalNumber: Int32? {
    let number = stopSignal.load(ordering: .sequentiallyConsistent)
    return number == 0 ? nil : number
  }

  /// A descriptor that becomes readable when a signal has arrived; before ``install`` it is -1, which poll(2)
  /// ignores.
  package static var wakeDescriptor: Int32 {
    wakeReadEnd.load(ordering: .sequentiallyConsistent)
  }

  /// A descriptor that becomes readable when SIGHUP has arrived, until the request is taken; before `installReload` it
  /// is -1.
  package static var reloadDescriptor: Int32 {
    reloadReadEnd.load(ordering: .sequentiallyConsistent)
  }

  /// Makes ``wakeDescriptor`` unreadable until the next signal; the flags stay.
  package static func drainWake() { drain(wakeDescriptor) }

  private static func drain(_ descriptor: Int32) {
    var bytes: (UInt64, UInt64) = (0, 0)
    while read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
  }

  /// Waits until a descriptor is readable, a signal arrives or the time is up; true if it is readable.
  ///
  /// Without a descriptor, it waits for a signal or the end of the time.
  package static func wait(forReadable descriptor: Int32 = -1, timeout: Duration) -> Bool {
    if stopRequested { return false }
    var polled = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&polled, 2, timeout.pollTimeout) > 0 else { return false }
    if polled[1].revents != 0 { drainWake() }
    return polled[0].revents != 0
  }

  private static func openPipe(
    _ readEnd: borrowing Atomic<Int32>, _ writeEnd: borrowing Atomic<Int32>
  ) {
    guard readEnd.load(ordering: .sequentiallyConsistent) < 0 else { return }
    var ends: [Int32] = [-1, -1]
    // Without the pipe a signal still sets its flag and still interrupts poll(2).
    guard pipe(&ends) == 0 else { return }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    readEnd.store(ends[0], ordering: .sequentiallyConsistent)
    writeEnd.store(ends[1], ordering: .sequentiallyConsistent)
  }

  private static func handle(
    _ number: Int32, with handler: @escaping @convention(c) (Int32) -> Void, flags: Int32 = 0
  ) {
    var action = sigaction()
    action.sa_flags = flags
    action.__sigaction_handler.sa_handler = handler
    sigemptyset(&action.sa_mask)
    sigaction(number, &action, nil)
  }
}

// The handlers may use only lock-free atomics, write(2) and _exit(2). They are in a file of their own so that
// they are not isolated to an actor. `Signals.install` accesses each of these globals before it installs a
// handler, since a global is initialised at its first use.

/// The first signal that asked to stop, or 0.
let stopSignal = Atomic<Int32>(0)
/// How many SIGHUP have arrived and were not taken note of.
let reloadSignals = Atomic<Int32>(0)
/// The end of the wake pipe that handlers write to, or -1.
let wakeWriteEnd = Atomic<Int32>(-1)
/// The end of the wake pipe that programs poll, or -1.
let wakeReadEnd = Atomic<Int32>(-1)
/// The same for SIGHUP.
let reloadWriteEnd = Atomic<Int32>(-1)
let reloadReadEnd = Atomic<Int32>(-1)

/// The first signal requests a stop; the second ends the process at once, because the user is waiting.
let stopHandler: @convention(c) (Int32) -> Void = { signal in
  let (isFirst, _) = stopSignal.compareExchange(
    expected: 0, desired: signal, ordering: .sequentiallyConsistent)
  if !isFirst { _exit(128 + signal) }
  wake(wakeWriteEnd)
}

/// Both the system and the shell of a closed terminal may send one, so the second does not end the process.
let hangUpHandler: @convention(c) (Int32) -> Void = { signal in
  _ = stopSignal.compareExchange(expected: 0, desired: signal, ordering: .sequentiallyConsistent)
  wake(wakeWriteEnd)
}

let reloadHandler: @convention(c) (Int32) -> Void = { _ in
  reloadSignals.store(1, ordering: .sequentiallyConsistent)
  wake(reloadWriteEnd)
}

private func wake(_ end: borrowing Atomic<Int32>) {
  // The interrupted code may be about to read errno.
  let savedErrno = errno
  var byte: UInt8 = 0
  // A full pipe needs no further byte: the reader wakes anyway.
  _ = write(end.load(ordering: .sequentiallyConsistent), &byte, 1)
  errno = savedErrno
}
