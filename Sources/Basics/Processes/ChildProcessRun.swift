internal import CLinux
package import Glibc
package import SwiftOverlayShims  // where this compiler finds pid_t and the members of timespec

extension ChildProcess {
  /// Runs the program to its end, writes its input and collects its outputs.
  ///
  /// A grandchild that keeps the outputs open does not prolong the call.
  package func run() throws(LaunchError) -> Outcome {
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
      input: input == nil ? nothing : toChild.reading, output: output.writing,
      errors: errors.writing)
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
      // The end of the child is no event for poll(2) if a grandchild keeps the outputs open, or if the child
      // has closed them. So this loop also checks for it every 10 ms.
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
        // The pipes may still hold output from before its end.
        if output.reading >= 0 { _ = collect(output.reading, into: &result.output) }
        if errors.reading >= 0 { _ = collect(errors.reading, into: &result.errors) }
        result.ending = stop.hasBegun ? .timedOut : Self.ending(status)
        return result
      }
      stop.advance(pid)
    }
  }

  /// Writes as much as fits into the pipe; false when all is written or the reader has gone.
  private func feed(_ bytes: inout ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { BrokenPipe.write(descriptor, $0) }
      if count < 0 { return errno == EAGAIN || errno == EINTR }
      bytes = bytes.dropFirst(count)
    }
    return false
  }

  /// Reads the available bytes and keeps the last `outputLimit`; false at the end of the file.
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

  /// Ends a child after its timeout: SIGTERM first, SIGKILL two seconds later.
  private struct Stop {
    private var deadline: Duration?
    private(set) var hasBegun = false

    init(timeout: Duration?) {
      deadline = timeout.map { MonotonicClock.now() + $0 }
    }

    mutating func advance(_ pid: pid_t) {
      guard let deadline, MonotonicClock.now() >= deadline else { return }
      kill(pid, hasBegun ? SIGKILL : SIGTERM)
      hasBegun = true
      self.deadline = MonotonicClock.now() + .seconds(2)
    }
  }
}

/// A child that runs concurrently with its parent and reads its input from a pipe. It shares the parent's
/// standard output and error.
///
/// No call blocks; poll `descriptors`. The child is in a process group of its own, so that Ctrl-C does not
/// reach it. Use it from one thread only.
package final class RunningChild {
  /// Its process id, which is also that of its group.
  package let pid: pid_t
  /// How it ended; nil until its end is detected.
  package private(set) var ending: ChildProcess.Ending?
  private var input: Int32
  private var end: Int32
  /// The input that has not been written to the pipe yet.
  private var pending: ArraySlice<UInt8> = []
  private var isAll = false

  /// Starts `program`. Its `input` and `timeout` are ignored.
  package init(_ program: ChildProcess) throws(ChildProcess.LaunchError) {
    guard var pipe = Pipe() else {
      throw ChildProcess.LaunchError(executable: program.executable, code: errno)
    }
    defer { pipe.closeReading() }
    _ = fcntl(pipe.writing, F_SETFL, O_NONBLOCK)
    do {
      pid = try program.spawn(input: pipe.reading, output: 1, errors: 2, in: .own)
    } catch {
      pipe.closeWriting()
      throw error
    }
    input = pipe.writing
    end = quake_pidfd_open(pid)
  }

  deinit {
    closeInput()
    if end >= 0 { close(end) }
  }

  // MARK: Feeding

  /// Whether some of its input has not been written to the pipe yet.
  package var isTaking: Bool { input >= 0 && !pending.isEmpty }

  /// Adds bytes to its input. They are written to the pipe, as far as it has space, now and by `advance`. If
  /// the child has closed its input, they are dropped.
  ///
  /// - Parameter isLast: Whether its input ends after them.
  package func give(_ bytes: [UInt8], isLast: Bool = false) {
    // The child has closed its input, so the bytes would never be read.
    guard input >= 0 else { return }
    isAll = isAll || isLast
    if pending.isEmpty { pending = bytes[...] } else { pending += bytes }
    feed()
  }

  private func feed() {
    while isTaking {
      let count = pending.withUnsafeBytes { BrokenPipe.write(input, $0) }
      if count >= 0 {
        pending = pending.dropFirst(count)
      } else if errno != EINTR {
        if errno == EAGAIN { return }
        // A child may close its input before it has read everything.
        closeInput()
      }
    }
    if isAll { closeInput() }
  }

  private func closeInput() {
    if input >= 0 { close(input) }
    input = -1
    pending = []
  }

  // MARK: Waiting

  /// How often to call `advance` if `reportsEnd` is false.
  package static let pollInterval = Duration.milliseconds(10)

  /// The descriptors to poll: its pipe has space for more input, or it has ended.
  package var descriptors: [pollfd] {
    [
      pollfd(fd: isTaking ? input : -1, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: end, events: Int16(POLLIN), revents: 0),
    ]
  }

  /// Whether `descriptors` include its end; if not, call `advance` every `pollInterval`.
  package var reportsEnd: Bool { end >= 0 }

  /// Writes as much input as fits into the pipe, and checks whether the child has ended.
  package func advance() {
    feed()
    guard ending == nil else { return }
    var status: Int32 = 0
    let waited = waitpid(pid, &status, WNOHANG)
    guard waited == pid || waited < 0 && errno != EINTR else { return }
    ending = ChildProcess.ending(status)
    // A program that the child started may still read the pipe, but the input was for the child.
    closeInput()
  }

  /// Sends a signal to its process group.
  package func signal(_ number: Int32) {
    if ending == nil { kill(-pid, number) }
  }
}
