import Glibc
import QuakeModel
import Synchronization
import TestSupport

/// A running `quake-watch --json` and the thread that reads it.
final class FeedProcess {
  let process: ToolProcess
  let recorder: FeedRecorder
  private let valve = Valve()
  private let thread: BackgroundThread
  private var hasEnded = false

  /// Starts a watcher of the database at `conninfo`, or of the server at this URL.
  ///
  /// - Parameters:
  ///   - tool: The program; nil is the built one.
  ///   - pipeSize: How many bytes the pipe takes; nil: as many as it takes.
  ///   - isRead: Whether its output is read from the beginning on.
  init(
    _ conninfo: String, _ arguments: [String], recorder: FeedRecorder = FeedRecorder(),
    tool: String? = nil, pipeSize: Int32? = nil, isRead: Bool = true
  ) throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw ToolProcess.Failure(description: "could not make a pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let setPipeSize: Int32 = 1031  // F_SETPIPE_SZ, which Swift does not see
    if let pipeSize { _ = fcntl(ends[0], setPipeSize, pipeSize) }
    defer { close(ends[1]) }
    let source = conninfo.hasPrefix("http") ? "--url" : "--database"
    let all = ["--json", source, conninfo] + arguments
    do {
      process =
        if let tool {
          try ToolProcess(tool, all, environment: Tools.environment, output: ends[1])
        } else {
          try Tools.start("quake-watch", all, output: ends[1])
        }
    } catch {
      close(ends[0])
      throw error
    }
    self.recorder = recorder
    let (descriptor, valve) = (ends[0], valve)
    if !isRead { valve.close() }
    thread = BackgroundThread {
      defer { close(descriptor) }
      withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
        while true {
          valve.wait()
          let count = read(descriptor, buffer.baseAddress, buffer.count)
          guard count > 0 else {
            guard count < 0, errno == EINTR else { return }
            continue
          }
          recorder.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
      }
    }
  }

  deinit {
    guard !hasEnded else { return }
    process.signal(SIGKILL)
    process.signal(SIGCONT)
    _ = try? end()
  }

  /// Stops reading its output, or goes on.
  func setRead(_ isRead: Bool) {
    if isRead { valve.open() } else { valve.close() }
  }

  /// Waits for its end, and until all that it printed has been read.
  @discardableResult
  func end(within patience: Duration = ToolProcess.patience) throws -> ToolProcess.Outcome {
    hasEnded = true
    valve.open()
    let outcome = Result { try process.exit(within: patience) }
    if case .failure = outcome { process.signal(SIGKILL) }
    try thread.join()
    return try outcome.get()
  }

  /// Asks it to end and waits for that.
  @discardableResult
  func stop() throws -> ToolProcess.Outcome {
    process.signal(SIGTERM)
    return try end()
  }

  /// Kills it; what it had printed is read.
  func kill() throws {
    process.signal(SIGKILL)
    try end()
  }

  /// Waits until it has said a token, in a change or a heartbeat.
  func waitForToken(_ token: Int64, within patience: Duration = ToolProcess.patience) throws {
    try waitUntil("token \(token)", within: patience) { $0.newestToken >= token }
  }

  /// Waits until it has printed `count` lines.
  func waitForLines(_ count: Int, within patience: Duration = ToolProcess.patience) throws {
    try waitUntil("\(count) lines", within: patience) { $0.lineCount >= count }
  }

  private func waitUntil(
    _ what: String, within patience: Duration, _ holds: (FeedRecorder) -> Bool
  ) throws {
    let deadline = ContinuousClock.now + patience
    while !holds(recorder) {
      guard ContinuousClock.now < deadline else {
        throw ToolProcess.Failure(
          description: """
            waited in vain for \(what) of a watcher; it came to token \(recorder.newestToken), \
            \(recorder.lineCount) lines: \(process.errorText)
            """)
      }
      poll(nil, 0, 1)
    }
  }
}

/// Holds up a thread.
private final class Valve: Sendable {
  private let isClosed = Atomic<Bool>(false)

  func open() { isClosed.store(false, ordering: .relaxed) }
  func close() { isClosed.store(true, ordering: .relaxed) }
  func wait() { while isClosed.load(ordering: .relaxed) { poll(nil, 0, 2) } }
}
