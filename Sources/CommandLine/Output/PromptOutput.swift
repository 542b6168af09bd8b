import Basics
import Glibc
import SwiftOverlayShims  // where this compiler finds the members of stat

/// Writes to a descriptor without blocking: only as many bytes as poll(2) promises that it takes.
///
/// The descriptor is not made non-blocking, because that would affect every process that shares it. Files do not block
/// for long.
package struct PromptOutput {
  package enum Result: Equatable {
    /// The number of bytes that were written; 0 if a signal came first.
    case written(Int)
    /// The descriptor takes nothing at the moment.
    case full
    case failed(OutputError)
  }

  /// How many bytes poll(2) promises for a writable descriptor depends on its kind.
  enum Kind { case pipe, socket, terminal, other }

  package let descriptor: Int32
  let kind: Kind

  package init(_ descriptor: Int32) {
    self.descriptor = descriptor
    var status = stat()
    _ = fstat(descriptor, &status)
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFIFO: .pipe
      case S_IFSOCK: .socket
      default: Terminal.isTerminal(descriptor) ? .terminal : .other
      }
  }

  /// Writes the first bytes, if the descriptor takes any.
  package func write(_ bytes: UnsafeRawBufferPointer) -> Result {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard kind == .other || poll(&waiting, 1, 0) > 0 else { return .full }
    return writePiece(bytes)
  }

  /// Writes the first bytes to a descriptor that is writable.
  func writePiece(_ bytes: UnsafeRawBufferPointer) -> Result {
    let piece = UnsafeRawBufferPointer(rebasing: bytes.prefix(capacity))
    let written =
      kind == .socket
      ? send(descriptor, piece.baseAddress, piece.count, Int32(MSG_DONTWAIT))
      : Glibc.write(descriptor, piece.baseAddress, piece.count)
    if written >= 0 { return .written(written) }
    return switch errno {
    case EINTR: .written(0)
    case EAGAIN: .full
    case EPIPE: .failed(.closed)
    default: .failed(.failed(code: errno))
    }
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
}
