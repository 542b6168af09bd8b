import Glibc

/// The two ends of a pipe; -1 is a closed end.
struct Pipe {
  private(set) var reading: Int32 = -1
  private(set) var writing: Int32 = -1

  static let closed = Pipe(reading: -1, writing: -1)

  private init(reading: Int32, writing: Int32) {
    self.reading = reading
    self.writing = writing
  }

  /// Both ends close-on-exec, and above the standard descriptors: in a program started with one
  /// of those closed, the pipe would take its place and then be overwritten in the child.
  /// (`pipe2` cannot be called from Swift; the moment between is harmless for our own children,
  /// which close everything.)
  init?() {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { return nil }
    reading = fcntl(ends[0], F_DUPFD_CLOEXEC, 3)
    writing = fcntl(ends[1], F_DUPFD_CLOEXEC, 3)
    let code = errno
    close(ends[0])
    close(ends[1])
    if reading < 0 || writing < 0 {
      closeAll()
      errno = code
      return nil
    }
  }

  mutating func closeReading() {
    if reading >= 0 { close(reading) }
    reading = -1
  }

  mutating func closeWriting() {
    if writing >= 0 { close(writing) }
    writing = -1
  }

  mutating func closeAll() {
    closeReading()
    closeWriting()
  }
}
