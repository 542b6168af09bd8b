internal import CProcess
public import Glibc

/// A child that runs beside its parent, which feeds it through a pipe. Its outputs are the parent's.
///
/// No call waits: `descriptors` say what to poll for. It is in a process group of its own, so that
/// Ctrl-C does not reach it. Not for use from more than one thread.
public final class RunningChild {
  /// Its process id, which is also that of its group.
  public let pid: pid_t
  /// How it ended; nil as far as is known it runs.
  public private(set) var ending: ChildProcess.Ending?
  private var input: Int32
  private var end: Int32
  /// What it has been given and has not taken yet.
  private var pending: ArraySlice<UInt8> = []
  private var isAll = false

  /// Starts `program`; its `input` and `timeout` are not heeded.
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

  /// Whether it has still to take something of what it was given.
  public var isTaking: Bool { input >= 0 && !pending.isEmpty }

  /// Gives it bytes to read. It takes them, as far as its pipe has room, now and on `advance`; when
  /// it does not read any more they are dropped.
  ///
  /// - Parameter isLast: Whether the end of its input comes after them.
  public func give(_ bytes: [UInt8], isLast: Bool = false) {
    // One that reads no more would have them kept for nothing.
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
        // It does not want to read it all, which is its own affair.
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

  /// How often to `advance` a child whose end nothing tells.
  public static let pollInterval = Duration.milliseconds(10)

  /// What to poll for: that it takes more of its input, and that it has ended.
  public var descriptors: [pollfd] {
    [
      pollfd(fd: isTaking ? input : -1, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: end, events: Int16(POLLIN), revents: 0),
    ]
  }

  /// Whether polling tells of its end; if not, `advance` it every `pollInterval`.
  public var tellsOfItsEnd: Bool { end >= 0 }

  /// Feeds it what it takes, and sees whether it has ended.
  public func advance() {
    feed()
    guard ending == nil else { return }
    var status: Int32 = 0
    let waited = waitpid(pid, &status, WNOHANG)
    guard waited == pid || waited < 0 && errno != EINTR else { return }
    ending = ChildProcess.ending(status)
    // A program that it left behind may have the pipe, but nobody to answer for it.
    closeInput()
  }

  /// Sends a signal to it and to what it has started.
  public func signal(_ number: Int32) {
    if ending == nil { kill(-pid, number) }
  }
}
