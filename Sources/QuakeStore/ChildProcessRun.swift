import Glibc

extension ChildProcess {
  /// Runs the program to its end, feeding it its input and collecting what it writes.
  ///
  /// A grandchild that keeps the outputs open does not prolong the call.
  public func run() throws(LaunchError) -> Outcome {
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(nothing) }
    var toChild = Pipe.closed
    if input != nil { toChild = try pipe() }
    defer { toChild.closeAll() }
    var output = try pipe()
    defer { output.closeAll() }
    var errors = try pipe()
    defer { errors.closeAll() }

    let pid = try spawn(
      Descriptors(
        input: input == nil ? nothing : toChild.reading, output: output.writing,
        errors: errors.writing))
    toChild.closeReading()
    output.closeWriting()
    errors.closeWriting()
    for descriptor in [toChild.writing, output.reading, errors.reading] where descriptor >= 0 {
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    var result = Outcome(ending: .timedOut, output: [], errors: [])
    var remaining = (input ?? [])[...]
    if remaining.isEmpty { toChild.closeWriting() }
    var stop = Stop(timeout: timeout)
    while true {
      var waiting = [
        pollfd(fd: toChild.writing, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: output.reading, events: Int16(POLLIN), revents: 0),
        pollfd(fd: errors.reading, events: Int16(POLLIN), revents: 0),
      ]
      // A child's end wakes nobody while a grandchild has the outputs open, or once the child has
      // closed them itself, so it is looked for every 10 ms, besides at every output.
      poll(&waiting, nfds_t(waiting.count), 10)
      if waiting[0].revents != 0, !feed(&remaining, to: toChild.writing) { toChild.closeWriting() }
      if waiting[1].revents != 0, !collect(output.reading, into: &result.output) {
        output.closeReading()
      }
      if waiting[2].revents != 0, !collect(errors.reading, into: &result.errors) {
        errors.closeReading()
      }

      var status: Int32 = 0
      let waited = waitpid(pid, &status, WNOHANG)
      if waited == pid || (waited < 0 && errno != EINTR) {
        // What it had written before it ended is still in the pipes.
        if output.reading >= 0 { _ = collect(output.reading, into: &result.output) }
        if errors.reading >= 0 { _ = collect(errors.reading, into: &result.errors) }
        result.ending = stop.hasBegun ? .timedOut : Self.ending(status)
        return result
      }
      stop.advance(pid)
    }
  }

  /// Writes what fits; false when all is written or nobody reads any more.
  private func feed(_ bytes: inout ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { BrokenPipe.write(descriptor, $0) }
      if count < 0 { return errno == EAGAIN || errno == EINTR }
      bytes = bytes.dropFirst(count)
    }
    return false
  }

  /// Reads what is there, keeping the last `outputLimit` bytes; false at the end of the file.
  private func collect(_ descriptor: Int32, into bytes: inout [UInt8]) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        if count == 0 { return false }
        bytes.append(contentsOf: buffer.prefix(count))
        if bytes.count > outputLimit { bytes.removeFirst(bytes.count - outputLimit) }
      }
    }
  }

  private func pipe() throws(LaunchError) -> Pipe {
    guard let pipe = Pipe() else { throw LaunchError(executable: executable, code: errno) }
    return pipe
  }

  /// The two ends of a pipe; -1 is a closed end.
  private struct Pipe {
    private(set) var reading: Int32 = -1
    private(set) var writing: Int32 = -1

    static let closed = Pipe(reading: -1, writing: -1)

    private init(reading: Int32, writing: Int32) {
      self.reading = reading
      self.writing = writing
    }

    /// Both ends close-on-exec, and above the standard descriptors: in a program started with one
    /// of those closed, the pipe would take its place and then be overwritten in the child.
    /// (`pipe2` cannot be called from Swift; the moment between is harmless for our own children,
    /// which close everything.)
    init?() {
      var ends: [Int32] = [-1, -1]
      guard Glibc.pipe(&ends) == 0 else { return nil }
      reading = fcntl(ends[0], F_DUPFD_CLOEXEC, 3)
      writing = fcntl(ends[1], F_DUPFD_CLOEXEC, 3)
      let code = errno
      close(ends[0])
      close(ends[1])
      if reading < 0 || writing < 0 {
        closeAll()
        errno = code
        return nil
      }
    }

    mutating func closeReading() {
      if reading >= 0 { close(reading) }
      reading = -1
    }

    mutating func closeWriting() {
      if writing >= 0 { close(writing) }
      writing = -1
    }

    mutating func closeAll() {
      closeReading()
      closeWriting()
    }
  }

  /// The way from a timeout to a dead child: a request first, two seconds later the end.
  private struct Stop {
    private var deadline: MonotonicDeadline?
    private(set) var hasBegun = false

    init(timeout: Duration?) {
      deadline = timeout.map { MonotonicDeadline(after: $0) }
    }

    mutating func advance(_ pid: pid_t) {
      guard deadline?.hasPassed == true else { return }
      kill(pid, hasBegun ? SIGKILL : SIGTERM)
      hasBegun = true
      deadline = MonotonicDeadline(after: .seconds(2))
    }
  }
}

/// Writing to a pipe whose reader may have gone, without the signal that ends the whole program.
enum BrokenPipe {
  /// `write`, with EPIPE as an error only. The signal goes to the writing thread, so it is enough
  /// to block it there, and to take it away if this call has caused it.
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
