import Basics
import Glibc
import Synchronization
import TestSupport

@testable import CommandLine

/// A pipe that closes itself.
final class Pipe {
  private(set) var readEnd: Int32
  private(set) var writeEnd: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemError(code: errno) }
    (readEnd, writeEnd) = (ends[0], ends[1])
    // A program started by another test would keep the pipe open.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  deinit {
    closeReadEnd()
    closeWriteEnd()
  }

  func closeReadEnd() {
    if readEnd >= 0 { close(readEnd) }
    readEnd = -1
  }

  func closeWriteEnd() {
    if writeEnd >= 0 { close(writeEnd) }
    writeEnd = -1
  }

  /// Closes the write end and returns everything written.
  func contents() -> String {
    closeWriteEnd()
    return readAvailable(readEnd)
  }
}

/// A pseudo-terminal: `contents` reads the text written to `descriptor`.
final class PseudoTerminal {
  let descriptor: Int32
  let master: Int32

  init(columns: UInt16 = 80) throws {
    // Swift imports neither posix_openpt and its companions nor the names of their requests.
    let (unlock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))  // TIOCSPTLCK, TIOCGPTN
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var locked: Int32 = 0
    var number: Int32 = 0
    guard master >= 0, ioctl(master, unlock, &locked) == 0,
      ioctl(master, getNumber, &number) == 0
    else { throw SystemError(code: errno) }
    descriptor = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    guard descriptor >= 0 else { throw SystemError(code: errno) }
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
  }

  deinit {
    close(descriptor)
    close(master)
  }

  func contents() -> String { readAvailable(master) }
}

/// Reads from a descriptor on a thread of its own.
final class DescriptorReader: Sendable {
  private let text = Mutex("")
  private let thread: Mutex<BackgroundThread?> = Mutex(nil)

  /// Reads until `size` bytes have arrived, or the input ends; waits for `pause` before each page.
  ///
  /// - Parameter calls: It waits only while there was no call.
  init(_ descriptor: Int32, upTo size: Int, pause: Duration? = nil, until calls: Tally = Tally()) {
    let thread = BackgroundThread { [self] in
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 4096)
      while bytes.count < size {
        if let pause, calls.total == 0 { poll(nil, 0, pause.pollTimeout) }
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 180_000) > 0 else { break }
        let count = read(descriptor, &chunk, chunk.count)
        guard count > 0 else { break }
        bytes += chunk[..<count]
      }
      text.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
    }
    self.thread.withLock { $0 = thread }
  }

  /// The bytes read, once reading has ended.
  func join() throws -> String {
    let thread = self.thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    try thread?.join()
    return text.withLock { $0 }
  }
}

struct SystemError: Error {
  let code: Int32
}

func readAvailable(_ descriptor: Int32) -> String {
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = read(descriptor, &chunk, chunk.count)
    guard count > 0 else { break }
    bytes += chunk[..<count]
  }
  return String(decoding: bytes, as: UTF8.self)
}
