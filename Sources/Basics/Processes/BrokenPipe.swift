import Glibc

/// Writes to a pipe whose reader may have gone, without the SIGPIPE that would end the program.
enum BrokenPipe {
  /// Like `write`, but a closed pipe only causes the error EPIPE. SIGPIPE is sent to the writing thread, so
  /// it is enough to block it there, and to consume it if this call has caused it.
  static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    var signal = sigset_t()
    var before = sigset_t()
    var pending = sigset_t()
    sigemptyset(&signal)
    sigaddset(&signal, SIGPIPE)
    sigpending(&pending)
    pthread_sigmask(SIG_BLOCK, &signal, &before)
    let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    let code = errno
    if count < 0, code == EPIPE, sigismember(&pending, SIGPIPE) == 0 {
      var now = timespec()
      _ = sigtimedwait(&signal, nil, &now)
    }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = code
    return count
  }
}
