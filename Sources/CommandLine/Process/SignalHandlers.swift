import Glibc
import Synchronization

// What the handlers may touch: lock-free atomics, write(2) and _exit(2), nothing else. They stand
// in a file of their own so that they are isolated to no actor. `Signals.install` touches each of
// these before it installs a handler, since a global is initialised at its first use.

/// The first signal that asked to stop, or 0.
let stopSignal = Atomic<Int32>(0)
/// The end of the wake pipe that handlers write to, or -1.
let wakeWriteEnd = Atomic<Int32>(-1)
/// The end of the wake pipe that programs poll, or -1.
let wakeReadEnd = Atomic<Int32>(-1)

/// The first signal asks; the second ends the process at once, as the user is waiting for it.
let stopHandler: @convention(c) (Int32) -> Void = { signal in
  let (isFirst, _) = stopSignal.compareExchange(
    expected: 0, desired: signal, ordering: .sequentiallyConsistent)
  if !isFirst { _exit(128 + signal) }
  wake()
}

private func wake() {
  // The interrupted code may be about to read errno.
  let savedErrno = errno
  var byte: UInt8 = 0
  // A full pipe is as good as another byte: the reader wakes either way.
  _ = write(wakeWriteEnd.load(ordering: .sequentiallyConsistent), &byte, 1)
  errno = savedErrno
}
