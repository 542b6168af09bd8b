import Basics
import Glibc
import SwiftOverlayShims  // where this compiler finds the members of stat

/// Writes to a descriptor and notices a reader that does not keep up. It waits in poll(2), where it can
/// measure the time, and passes write(2) only as many bytes as do not block.
///
/// The descriptor is not made non-blocking, because that would affect every process that shares it.
final class StallWatch {
  /// How many bytes poll(2) promises for a writable descriptor depends on its kind.
  private enum Kind { case pipe, socket, terminal, other }

  private let descriptor: Int32
  private let kind: Kind
  private let timer: StallTimer

  /// A watch over `descriptor` that calls `onStall` when writing has been blocked for too long.
  init(_ descriptor: Int32, onStall: @escaping () -> Void) {
    self.descriptor = descriptor
    timer = StallTimer(onStall: onStall)
    var status = stat()
    _ = fstat(descriptor, &status)
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFIFO: .pipe
      case S_IFSOCK: .socket
      default: Terminal.isTerminal(descriptor) ? .terminal : .other
      }
  }

  /// Sets the time blocked to zero, after everything has been written.
  func reset() { timer.reset() }

  /// Writes all bytes; nil on success.
  func writeAll(_ bytes: UnsafeRawBufferPointer) -> OutputError? {
    guard kind != .other else { return Descriptor.writeAll(bytes, to: descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      waitUntilWritable()
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(capacity))
      let written =
        kind == .socket
        ? send(descriptor, piece.baseAddress, piece.count, Int32(MSG_DONTWAIT))
        : write(descriptor, piece.baseAddress, piece.count)
      if written >= 0 {
        rest = rest.dropFirst(written)
        continue
      }
      switch errno {
      case EINTR, EAGAIN: continue
      case EPIPE: return .closed
      default: return .failed(code: errno)
      }
    }
    return nil
  }

  /// How many bytes a writable descriptor accepts without blocking.
  private var capacity: Int {
    switch kind {
    case .pipe:
      // A pipe is writable when one of its pages is free. Only an empty pipe certainly accepts more, since
      // pages may be partly filled.
      var count: Int32 = 0
      guard ioctl(descriptor, UInt(FIONREAD), &count) == 0, count == 0 else { return Self.pipePage }
      return max(Int(fcntl(descriptor, Self.getPipeSize)), Self.pipePage)
    case .terminal: return Self.terminalPiece
    case .socket, .other: return .max
    }
  }

  /// PIPE_BUF, which Swift does not import.
  private static let pipePage = 4096
  /// F_GETPIPE_SZ, which Swift does not import.
  private static let getPipeSize: Int32 = 1032
  /// Linux allocates a terminal's buffer in pieces of this size.
  private static let terminalPiece = 256

  private func waitUntilWritable() {
    if !isWritable(within: .zero) { timer.wait(isWritable) }
  }

  /// False also after a signal: the program checks for a stop request when the work in progress is done.
  private func isWritable(within timeout: Duration?) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&waiting, 1, timeout?.pollTimeout ?? -1) > 0
  }
}
