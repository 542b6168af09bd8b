internal import CLinux
public import Glibc

/// A child that runs concurrently with its parent and reads its input from a pipe. It shares the parent's
/// standard output and error.
///
/// No call blocks; poll `descriptors`. The child is in a process group of its own, so that Ctrl-C does not
/// reach it. Use it from one thread only.
public final class RunningChild {
  /// Its process id, which is also that of its group.
  public let pid: pid_t
  /// How it ended; nil until its end is detected.
  public private(set) var ending: ChildProcess.Ending?
  private var input: Int32
  private var end: Int32
  /// The input that has not been written to the pipe yet.
  private var pending: ArraySlice<UInt8> = []
  private var isAll = false

  /// Starts `program`. Its `input` and `timeout` are ignored.
  public init(_ program: ChildProcess) throws(ChildProcess.LaunchError) {
    guard var pipe = Pipe() else {
      throw ChildProcess.LaunchError(executable: program.executable, code: errno)
    }
    defer { pipe.closeReading() }
    _ = fcntl(pipe.writing, F_SETFL, O_NONBLOCK)
    do {
      pid = try program.spawn(
        ChildProcess.Descriptors(input: pipe.reading, output: 1, errors: 2), in: .own)
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
  public var isTaking: Bool { input >= 0 && !pending.isEmpty }

  /// Adds bytes to its input. They are written to the pipe, as far as it has space, now and by `advance`. If
  /// the child has closed its input, they are dropped.
  ///
  /// - Parameter isLast: Whether its input ends after them.
  public func give(_ bytes: [UInt8], isLast: Bool = false) {
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
  public static let pollInterval = Duration.milliseconds(10)

  /// The descriptors to poll: its pipe has space for more input, or it has ended.
  public var descriptors: [pollfd] {
    [
      pollfd(fd: isTaking ? input : -1, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: end, events: Int16(POLLIN), revents: 0),
    ]
  }

  /// Whether `descriptors` include its end; if not, call `advance` every `pollInterval`.
  public var reportsEnd: Bool { end >= 0 }

  /// Writes as much input as fits into the pipe, and checks whether the child has ended.
  public func advance() {
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
  public func signal(_ number: Int32) {
    if ending == nil { kill(-pid, number) }
  }
}
