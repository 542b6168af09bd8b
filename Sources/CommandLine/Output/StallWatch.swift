import Glibc
import SwiftOverlayShims  // where this compiler finds the members of stat
import SystemClock

/// Writing that notices a reader who does not keep up: it waits in poll(2), where it can tell the
/// time, and hands write(2) only what that takes without waiting.
///
/// The descriptor is not made non-blocking: that would hold for every process that shares it.
final class StallWatch {
  /// What poll(2) promises when it calls a descriptor writable depends on what it is.
  private enum Kind { case pipe, socket, terminal, other }

  private let descriptor: Int32
  private let kind: Kind
  private let timer: StallTimer

  /// A watch over `descriptor` that calls `tell` when writing has waited for too long.
  init(_ descriptor: Int32, tell: @escaping () -> Void) {
    self.descriptor = descriptor
    timer = StallTimer(tell: tell)
    var status = stat()
    _ = fstat(descriptor, &status)
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFIFO: .pipe
      case S_IFSOCK: .socket
      default: Terminal.isTerminal(descriptor) ? .terminal : .other
      }
  }

  /// Everything has been written: waiting is counted from nothing again.
  func reset() { timer.reset() }

  /// Returns nil when everything has been written.
  func writeAll(_ bytes: UnsafeRawBufferPointer) -> OutputError? {
    guard kind != .other else { return Descriptor.writeAll(bytes, to: descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      waitUntilWritable()
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(room))
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

  /// How many bytes a writable descriptor takes at once.
  private var room: Int {
    switch kind {
    case .pipe:
      // A pipe is writable when a page of it is free; only an empty one has room for more for sure,
      // since pages may be filled in part.
      var count: Int32 = 0
      guard ioctl(descriptor, UInt(FIONREAD), &count) == 0, count == 0 else { return Self.pipePage }
      return max(Int(fcntl(descriptor, Self.getPipeSize)), Self.pipePage)
    case .terminal: return Self.terminalPiece
    case .socket, .other: return .max
    }
  }

  /// PIPE_BUF, which the system promises; Swift does not see it.
  private static let pipePage = 4096
  /// F_GETPIPE_SZ, which is an extension that Swift does not see.
  private static let getPipeSize: Int32 = 1032
  /// Linux gives a terminal's buffer out in pieces of this size.
  private static let terminalPiece = 256

  private func waitUntilWritable() {
    if !isWritable(within: .zero) { timer.wait(isWritable) }
  }

  /// False also when a signal came: whether to end is asked when the work in hand is done.
  private func isWritable(within timeout: Duration?) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&waiting, 1, timeout?.pollTimeout ?? -1) > 0
  }
}
