import Basics
import CommandLine
import Glibc

/// Running `quake-watch` processes, each with a pipe for its output.
final class WatchedOutputs {
  private struct Watcher {
    var pid: pid_t
    var descriptor: Int32
    /// When each line could be read, on the clock that all processes share.
    var lines: [Duration] = []
  }

  private var watchers: [Watcher] = []
  private var polled: [pollfd] = []

  /// Starts `count` watchers.
  init(_ count: Int, _ program: ChildProcess) throws {
    let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(nothing) }
    for _ in 0..<count {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw BenchFailure("could not make a pipe") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
      defer { close(ends[1]) }
      let pid = try program.spawn(
        ChildProcess.Descriptors(input: nothing, output: ends[1], errors: 2))
      watchers.append(Watcher(pid: pid, descriptor: ends[0]))
      polled.append(pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0))
    }
  }

  deinit {
    for watcher in watchers { kill(watcher.pid, SIGTERM) }
    for watcher in watchers {
      var status: Int32 = 0
      while waitpid(watcher.pid, &status, 0) < 0, errno == EINTR {}
      close(watcher.descriptor)
    }
  }

  /// The times of each watcher's lines so far.
  var lines: [[Duration]] { watchers.map(\.lines) }

  /// Forgets the lines so far.
  func forget() {
    for index in watchers.indices { watchers[index].lines.removeAll() }
  }

  /// Reads lines for a while.
  func read(for duration: Duration) throws {
    try read(for: duration, until: { _ in false })
  }

  /// Reads lines until each watcher has `count`; false if that takes longer than `duration`.
  func read(lines count: Int, within duration: Duration) throws -> Bool {
    let isDone = { (watchers: [Watcher]) in watchers.allSatisfy { $0.lines.count >= count } }
    try read(for: duration, until: isDone)
    return isDone(watchers)
  }

  private func read(for duration: Duration, until isDone: ([Watcher]) -> Bool) throws {
    let end = MonotonicClock.now() + duration
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var nextLook = MonotonicClock.now()
    while true {
      // Not after each line: with hundreds of watchers that costs more than reading it.
      let now = MonotonicClock.now()
      if now >= nextLook {
        guard !isDone(watchers), now < end else { return }
        try Run.stopIfAsked()
        nextLook = now + .milliseconds(20)
      }
      guard poll(&polled, nfds_t(polled.count), 20) > 0 else { continue }
      for index in polled.indices where polled[index].revents != 0 {
        let count = Glibc.read(watchers[index].descriptor, &buffer, buffer.count)
        guard count > 0 else { throw BenchFailure("a watcher has ended") }
        let now = MonotonicClock.now()
        let lines = buffer[..<count].count { $0 == UInt8(ascii: "\n") }
        watchers[index].lines += repeatElement(now, count: lines)
      }
      // poll(2) examines every pipe. With many pipes, a call for each line would take processor
      // time from the processes that are measured.
      if watchers.count > Self.many { usleep(Self.pause) }
    }
  }

  private static let many = 20
  /// Microseconds: the longest delay in reading a line of one of many watchers.
  private static let pause: UInt32 = 500

  /// Processor time of all watchers, in seconds.
  var cpu: Double {
    watchers.reduce(0) { $0 + ServerProcesses.cpu(of: $1.pid) }
  }
}
