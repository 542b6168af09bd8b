import Glibc

/// Reads from an open descriptor: a pipe, a socket, a terminal, a file.
public final class FileDescriptorSource: ByteSource {
  private let descriptor: Int32
  private let closes: Bool
  private let name: String
  private let interrupt: (() -> Bool)?
  private var ended = false

  /// A source that reads `descriptor`, and closes it at its deinitialisation if `closes` is true.
  ///
  /// - Parameters:
  ///   - name: The name for errors, such as `standard input`.
  ///   - interrupt: Called at least every 250 ms while there is nothing to read; if it returns true, the read
  ///     throws `FeedError.Code.interrupted`.
  public init(
    descriptor: Int32, closes: Bool = false, name: String, interrupt: (() -> Bool)? = nil
  ) {
    self.descriptor = descriptor
    self.closes = closes
    self.name = name
    self.interrupt = interrupt
  }

  /// A source that reads standard input.
  public static func standardInput(interrupt: (() -> Bool)? = nil) -> FileDescriptorSource {
    FileDescriptorSource(descriptor: 0, name: "standard input", interrupt: interrupt)
  }

  deinit {
    if closes { close(descriptor) }
  }

  /// The number of bytes from here to the end of a regular file; nil for pipes, sockets and devices.
  var remaining: Int64? {
    var status = stat()
    let position = lseek(descriptor, 0, SEEK_CUR)
    guard position >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    return Int64(status.st_size) - Int64(position)
  }

  /// Reads the available bytes; waits if there are none. The end stays the end: a terminal would wait for
  /// another Ctrl-D if it were read again.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    if ended { return 0 }
    while true {
      try waitUntilReadable()
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 {
        ended = count == 0
        return count
      }
      let failure = errno
      if failure == EINTR || failure == EAGAIN { continue }
      throw FeedError(
        .unreadable, "could not read \(name)", detail: SystemError.sentence(failure))
    }
  }

  /// Waits in slices to call the hook: a plain read would not end if the signal's handler is installed with
  /// SA_RESTART, or another thread handles the signal.
  private func waitUntilReadable() throws(FeedError) {
    guard let interrupt else { return }
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    var pause: Int32 = 0
    while Glibc.poll(&poll, 1, pause) <= 0 {
      if interrupt() { throw FeedError(.interrupted, "interrupted while reading \(name)") }
      pause = 250
    }
  }
}
