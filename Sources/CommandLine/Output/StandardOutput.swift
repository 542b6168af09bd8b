import Basics
import Glibc

/// Buffered output to a file descriptor, by default standard output.
///
/// The buffer is written when it is full and by ``flush()``. Call ``flush()`` at the end, because only then
/// can a failure be reported. After a failure, every further call throws the same error. Use it from one
/// thread only.
package final class StandardOutput {
  package let descriptor: Int32
  private let buffer: UnsafeMutableRawBufferPointer
  private var used = 0
  private var failure: OutputError?
  private var stallWatch: StallWatch?

  /// Called when writing has been blocked for ``StallTimer/patience`` (250 ms) in total since the last
  /// ``flush()``, because the reader does not keep up. At most once until the next flush has ended.
  ///
  /// It cannot throw, so that it never cuts off output. Only pipes, sockets and terminals are watched,
  /// because files do not block for long.
  package var onStall: (() -> Void)? {
    didSet { stallWatch = onStall.map { StallWatch(descriptor, onStall: $0) } }
  }

  /// Output to `descriptor`, which stays open afterwards.
  package init(descriptor: Int32 = 1, capacity: Int = 64 * 1024) {
    self.descriptor = descriptor
    buffer = .allocate(byteCount: max(capacity, 1), alignment: 16)
  }

  deinit { buffer.deallocate() }

  package func write(_ bytes: [UInt8]) throws(OutputError) {
    let result = bytes.withUnsafeBytes { attempt($0) }
    if let result { throw result }
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
    if let error = attempt(bytes) { throw error }
  }

  package func write(_ text: String) throws(OutputError) {
    var text = text
    if let error = text.withUTF8({ attempt(UnsafeRawBufferPointer($0)) }) { throw error }
  }

  package func writeLine(_ text: String) throws(OutputError) {
    try write(text)
    try write("\n")
  }

  package func flush() throws(OutputError) {
    if let error = drain() { throw error }
    stallWatch?.reset()
  }

  /// Throws ``OutputError/closed`` if the reader has closed its end, also if there is nothing to write.
  package func checkReader() throws(OutputError) {
    if failure == nil, Descriptor.hasNoReader(descriptor) { failure = .closed }
    if let failure { throw failure }
  }

  /// Returns errors instead of throwing them, because closures of the standard library lose their type.
  private func attempt(_ bytes: UnsafeRawBufferPointer) -> OutputError? {
    if let failure { return failure }
    if bytes.count > buffer.count - used, let error = drain() { return error }
    if bytes.count >= buffer.count { return send(bytes) }
    UnsafeMutableRawBufferPointer(rebasing: buffer[used...]).copyMemory(from: bytes)
    used += bytes.count
    return nil
  }

  private func drain() -> OutputError? {
    if let failure { return failure }
    let pending = UnsafeRawBufferPointer(rebasing: buffer[..<used])
    used = 0
    return send(pending)
  }

  private func send(_ bytes: UnsafeRawBufferPointer) -> OutputError? {
    if let stallWatch {
      failure = stallWatch.writeAll(bytes)
    } else {
      failure = Descriptor.writeAll(bytes, to: descriptor)
    }
    return failure
  }
}

package enum OutputError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reader has closed its end (EPIPE): the program should end quietly. That is no failure, unless it was to follow
  /// something.
  case closed
  /// The system refused; `code` is its errno.
  case failed(code: Int32)

  package var description: String {
    switch self {
    case .closed: "output was closed by its reader"
    case .failed(let code): "could not write output: \(String(cString: strerror(code)))"
    }
  }
}

/// Writes to a file descriptor until all is written.
enum Descriptor {
  /// Returns nil when everything has been written.
  static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> OutputError? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = Glibc.write(
        descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if written >= 0 {
        rest = rest.dropFirst(written)
        continue
      }
      switch errno {
      case EINTR: continue
      case EPIPE: return .closed
      case EAGAIN:
        // Another program that shares standard output may have made it non-blocking.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&waiting, 1, -1)
      default: return .failed(code: errno)
      }
    }
    return nil
  }

  /// Whether the descriptor is a pipe or a socket whose other end is closed.
  static func hasNoReader(_ descriptor: Int32) -> Bool {
    var state = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLERR | POLLHUP) != 0
  }

  static func writeAll(_ text: String, to descriptor: Int32) -> OutputError? {
    var text = text
    return text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
  }
}

/// Writes to a descriptor and notices a reader that does not keep up. It waits in poll(2), where it can
/// measure the time, and passes write(2) only as many bytes as do not block.
final class StallWatch {
  private let output: PromptOutput
  private let timer: StallTimer

  /// A watch over `descriptor` that calls `onStall` when writing has been blocked for too long.
  init(_ descriptor: Int32, onStall: @escaping () -> Void) {
    output = PromptOutput(descriptor)
    timer = StallTimer(onStall: onStall)
  }

  /// Sets the time blocked to zero, after everything has been written.
  func reset() { timer.reset() }

  /// Writes all bytes; nil on success.
  func writeAll(_ bytes: UnsafeRawBufferPointer) -> OutputError? {
    guard output.kind != .other else { return Descriptor.writeAll(bytes, to: output.descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      waitUntilWritable()
      switch output.writePiece(UnsafeRawBufferPointer(rebasing: rest)) {
      case .written(let count): rest = rest.dropFirst(count)
      case .full: continue
      case .failed(let error): return error
      }
    }
    return nil
  }

  private func waitUntilWritable() {
    if !isWritable(within: .zero) { timer.wait(isWritable) }
  }

  /// False also after a signal: the program checks for a stop request when the work in progress is done.
  private func isWritable(within timeout: Duration?) -> Bool {
    var waiting = pollfd(fd: output.descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&waiting, 1, timeout?.pollTimeout ?? -1) > 0
  }
}

/// Calls back once when the total time blocked exceeds the limit, because a blocked program neglects its
/// other work.
package final class StallTimer {
  /// The limit of the total time blocked.
  package static let patience = Duration.milliseconds(250)

  private let onStall: () -> Void
  private var remaining = StallTimer.patience
  private var isTold = false

  /// A timer that calls `onStall` when the total reaches `patience`.
  package init(onStall: @escaping () -> Void) {
    self.onStall = onStall
  }

  package func reset() {
    remaining = Self.patience
    isTold = false
  }

  /// Calls `isOver` until it returns true. It must wait with poll(2), at most for the given duration; nil
  /// means for ever.
  package func wait(_ isOver: (Duration?) -> Bool) {
    while !isTold {
      let start = MonotonicClock.now()
      let isOver = isOver(remaining)
      remaining -= MonotonicClock.now() - start
      if isOver { return }
      if remaining <= .zero {
        isTold = true
        onStall()
      }
    }
    while !isOver(nil) {}
  }
}
