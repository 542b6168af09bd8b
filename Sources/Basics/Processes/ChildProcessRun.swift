internal import CLinux
package import Glibc
package import SwiftOverlayShims  // where this compiler finds pid_t and the members of timespec

extension ChildProcess {
  /// Runs the program to its end, writes its input and collects its outputs.
  ///
  /// A grandchild that keeps the outputs open does not prolong the call.
  package func run() throws(LaunchError) -> Outcome {
    var output = try pipe()
    defer { output.closeAll() }
    var errors = try pipe()
    defer { errors.closeAll() }
    let child = try RunningChild(
      self, output: output.writing, errors: errors.writing, in: .callers)
    output.closeWriting()
    errors.closeWriting()
    for descriptor in [output.reading, errors.reading] {
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
    child.give(input ?? [], isLast: true)

    var result = Outcome(ending: .timedOut, output: [], errors: [])
    var stop = Stop(timeout: timeout)
    while true {
      var waiting =
        [output, errors].map { pollfd(fd: $0.reading, events: Int16(POLLIN), revents: 0) }
        + child.descriptors
      poll(&waiting, nfds_t(waiting.count), RunningChild.pollInterval.pollTimeout)
      child.advance()
      // The pipes may still hold output from before its end.
      collect(&output, into: &result.output)
      collect(&errors, into: &result.errors)
      if let ending = child.ending {
        result.ending = stop.hasBegun ? .timedOut : ending
        return result
      }
      stop.advance(child)
    }
  }

  /// Reads the available bytes and keeps the last `outputLimit`.
  private func collect(_ pipe: inout Pipe, into bytes: inout [UInt8]) {
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
      while pipe.reading >= 0 {
        let count = read(pipe.reading, buffer.baseAddress, buffer.count)
        if count < 0 { return }
        if count == 0 { pipe.closeReading() }
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

    mutating func advance(_ child: RunningChild) {
      guard let deadline, MonotonicClock.now() >= deadline else { return }
      child.signal(hasBegun ? SIGKILL : SIGTERM)
      hasBegun = true
      self.deadline = MonotonicClock.now() + .seconds(2)
    }
  }
}

/// A child that runs concurrently with its parent and reads its input from a pipe.
///
/// No call blocks; poll `descriptors`. Use it from one thread only.
package final class RunningChild {
  package let pid: pid_t
  private let group: ChildProcess.Group
  /// How it ended; nil until its end is detected.
  package private(set) var ending: ChildProcess.Ending?
  private var input: Int32
  private var end: Int32
  /// The input that has not been written to the pipe yet.
  private var pending: ArraySlice<UInt8> = []
  private var isAll = false

  /// Starts `program`. Its `input` and `timeout` are ignored.
  ///
  /// - Parameters:
  ///   - output: What becomes its standard output; by default it shares the caller's.
  ///   - errors: What becomes its standard error.
  ///   - group: By default Ctrl-C does not reach it.
  package init(
    _ program: ChildProcess, output: Int32 = 1, errors: Int32 = 2,
    in group: ChildProcess.Group = .own
  ) throws(ChildProcess.LaunchError) {
    guard var pipe = Pipe() else {
      throw ChildProcess.LaunchError(executable: program.executable, code: errno)
    }
    defer { pipe.closeReading() }
    _ = fcntl(pipe.writing, F_SETFL, O_NONBLOCK)
    do {
      pid = try program.spawn(input: pipe.reading, output: output, errors: errors, in: group)
    } catch {
      pipe.closeWriting()
      throw error
    }
    self.group = group
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

  /// Sends a signal to it, and to the rest of its process group if that is its own.
  package func signal(_ number: Int32) {
    if ending == nil { kill(group == .callers ? pid : -pid, number) }
  }
}
