internal import Glibc

/// A socket that listens on a TCP port. The caller closes it.
package struct ListeningSocket: Sendable {
  /// Its descriptor, which is non-blocking and close-on-exec.
  package let descriptor: Int32
  /// The port, also if any free one was asked for.
  package let port: Int

  /// Listens at the first address that the name of a host has.
  ///
  /// - Parameters:
  ///   - host: A name or a numeric address; empty: all addresses, of IPv6 and of IPv4, whose clients then have addresses
  ///     such as `::ffff:192.0.2.1`. Only those of IPv4 where the machine has no IPv6.
  ///   - port: 0 to 65535; 0: any free port.
  ///   - backlog: How many connections may wait to be accepted.
  /// - Throws: A failure with the code `EINVAL` if the name has no address, `EAGAIN` if it cannot be resolved now, as before
  ///   the network is up.
  package init(host: String, port: Int, backlog: Int32) throws(SystemFailure) {
    if host.isEmpty {
      do throws(SystemFailure) {
        try self.init(addressOf: "::", port: port, backlog: backlog)
        return
      } catch {
        guard [EAFNOSUPPORT, EPROTONOSUPPORT, EADDRNOTAVAIL].contains(error.code) else {
          throw error
        }
      }
    }
    try self.init(addressOf: host.isEmpty ? "0.0.0.0" : host, port: port, backlog: backlog)
  }

  private init(addressOf host: String, port: Int, backlog: Int32) throws(SystemFailure) {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, "\(port)", &hints, &list)
    guard code == 0, let first = list else {
      throw SystemFailure(
        code == EAI_AGAIN ? EAGAIN : EINVAL, reason: String(cString: gai_strerror(code)))
    }
    defer { freeaddrinfo(list) }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(first.pointee.ai_family, kind, 0)
    guard descriptor >= 0 else { throw SystemFailure(errno) }
    var (one, zero): (Int32, Int32) = (1, 0)
    // A restart must not wait for the old connections' ends.
    setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    if host == "::" {
      setsockopt(
        descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &zero, socklen_t(MemoryLayout<Int32>.size))
    }
    guard bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0,
      listen(descriptor, backlog) == 0
    else {
      let failure = SystemFailure(errno)
      close(descriptor)
      throw failure
    }
    self.descriptor = descriptor
    self.port = Self.port(of: descriptor) ?? port
  }

  private static func port(of descriptor: Int32) -> Int? {
    var bound = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let isKnown = withUnsafeMutableBytes(of: &bound) { bytes in
      bytes.baseAddress.map {
        getsockname(descriptor, $0.assumingMemoryBound(to: sockaddr.self), &length) == 0
      } ?? false
    }
    // The port is at the same place in the addresses of both versions.
    return isKnown ? withUnsafeBytes(of: &bound) { Int($0[2]) << 8 | Int($0[3]) } : nil
  }
}

/// A temporary file without a name. The system deletes it when its last descriptor is closed, also if the
/// process is killed.
package enum UnnamedFile {
  /// Creates an empty file in `folder` for reading and writing. The caller closes it.
  ///
  /// - Parameter name: The beginning of the name that the file has for a moment on some file systems.
  /// - Returns: Its descriptor, which is close-on-exec.
  package static func create(in folder: String, named name: String) throws(SystemFailure) -> Int32 {
    // The file never has a name, and O_EXCL prevents giving it one.
    let file = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0o600)
    if file >= 0 { return file }
    // Not every file system supports that. The fallback creates a file with a name that other users cannot
    // guess.
    let path = "\(folder)/\(name)-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    let named = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard named >= 0 else { throw SystemFailure(errno) }
    unlink(path)
    return named
  }

  /// `O_TMPFILE`, which is a macro of two others in C.
  private static let O_TMPFILE = Int32(0o20_000_000) | O_DIRECTORY
}

package enum SystemCalls {
  /// Writes all of `bytes` at the position of a blocking descriptor.
  package static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32
  ) throws(SystemFailure) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        throw SystemFailure(errno)
      }
    }
  }

  /// Writes all of `bytes` at the position of a blocking descriptor.
  package static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemFailure) {
    try bytes.withUnsafeBufferPointer { bytes throws(SystemFailure) in
      try write(UnsafeRawBufferPointer(bytes), to: descriptor)
    }
  }

  /// Reads a blocking descriptor to its end, at most `most` bytes.
  package static func read(
    _ descriptor: Int32, atMost most: Int = .max
  ) throws(SystemFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: min(most, 16 * 1024))
    while bytes.count < most {
      let count = Glibc.read(descriptor, &part, min(part.count, most - bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SystemFailure(errno) }
      guard count > 0 else { break }
      bytes += part[..<count]
    }
    return bytes
  }

  /// The names in a folder, without `.` and `..`.
  package static func names(in folder: String) throws(SystemFailure) -> [String] {
    guard let stream = opendir(folder) else { throw SystemFailure(errno) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}

/// A call of the system has failed. The module that needed it says what it could not do, in an error of its own.
package struct SystemFailure: Error {
  package let code: Int32
  package let reason: String

  package var sentence: String { reason + "." }

  /// The failure with an error number of the system.
  package init(_ code: Int32) {
    self.init(code, reason: String(cString: strerror(code)))
  }

  init(_ code: Int32, reason: String) {
    self.code = code
    self.reason = reason
  }
}
