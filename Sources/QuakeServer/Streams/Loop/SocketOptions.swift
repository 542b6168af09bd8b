import Glibc

/// The options of a client's socket.
enum SocketOptions {
  /// Events leave at once, the system keeps a limited number of bytes for a client that does not read, and the
  /// connection of a client that is gone fails within half a minute after something was sent.
  static func set(on descriptor: Int32, buffer: Int) {
    // A socket that is not of TCP has fewer options.
    set(descriptor, Int32(IPPROTO_TCP), TCP_CORK, 0)
    set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 30_000)
    set(descriptor, SOL_SOCKET, SO_SNDBUF, Int32(clamping: buffer))
    let flags = fcntl(descriptor, F_GETFL)
    if flags & O_NONBLOCK == 0 { _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
