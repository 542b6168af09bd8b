package import Basics
internal import Glibc

/// The name or the numeric address of a server, and its port: `quakes.example.org`, `127.0.0.1:8080`, `[::1]:8080`.
struct HostAddress: Equatable {
  enum Host: Equatable {
    /// The two halves of an IPv6 address; an IPv4 address in its form of IPv6.
    case numeric(UInt64, UInt64)
    /// A name in small letters, without a dot at its end.
    case name(String)
  }

  let host: Host
  /// 0 to 65535; without one in the text the port of HTTP.
  let port: Int

  /// Reads the text of a `Host` field, with the blanks around it, or the same part of a URL; nil if it has another form.
  init?(_ text: String) {
    var text = text
    let read = text.withUTF8 { Self.read($0[...]) }
    guard let read else { return nil }
    (host, port) = read
  }

  private static func read(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> (Host, Int)? {
    var bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    let host: Host?
    let rest: Slice<UnsafeBufferPointer<UInt8>>
    if bytes.first == UInt8(ascii: "[") {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      host = Host(address6: bytes[..<end].dropFirst())
      rest = bytes[end...].dropFirst()
    } else {
      let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
      host = Host(name: bytes[..<end])
      rest = bytes[end...]
    }
    guard let host, rest.isEmpty || rest.first == UInt8(ascii: ":") else { return nil }
    guard rest.count > 1 else { return (host, 80) }
    var port = 0
    for digit in rest.dropFirst() {
      guard (0x30...0x39).contains(digit), port < 10_000 else { return nil }
      port = port * 10 + Int(digit - 0x30)
    }
    return port <= 65_535 ? (host, port) : nil
  }
}

extension HostAddress.Host {
  private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

  /// Reads the host of an address to listen on, which has no brackets.
  init?(listening text: String) {
    var text = text
    let read = text.withUTF8 { Self(address6: $0[...]) ?? Self(name: $0[...]) }
    guard let read else { return nil }
    self = read
  }

  /// Reads an IPv6 address; nil if the text is none.
  fileprivate init?(address6 bytes: Slice<UnsafeBufferPointer<UInt8>>) {
    var address = in6_addr()
    guard Self.read(bytes, AF_INET6, &address) else { return nil }
    let halves = withUnsafeBytes(of: &address) {
      ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    self = .numeric(UInt64(bigEndian: halves.0), UInt64(bigEndian: halves.1))
  }

  /// Reads a name or an IPv4 address; nil if it has a character that no name has.
  fileprivate init?(name bytes: Slice<UnsafeBufferPointer<UInt8>>) {
    let short = bytes.last == UInt8(ascii: ".") ? bytes.dropLast() : bytes
    var address = in_addr()
    if let first = short.first, (0x30...0x39).contains(first), Self.read(short, AF_INET, &address) {
      self = .numeric(0, Self.mapped | UInt64(UInt32(bigEndian: address.s_addr)))
      return
    }
    guard let last = short.last, last != UInt8(ascii: "."), short.allSatisfy(Self.isNameCharacter)
    else { return nil }
    self = .name(String(decoding: short, as: UTF8.self).lowercased())
  }

  /// Reads a numeric address of a family into the bytes of its type.
  private static func read<Address>(
    _ bytes: Bytes, _ family: Int32, _ address: inout Address
  ) -> Bool {
    let longest = Int(INET6_ADDRSTRLEN)
    guard bytes.count < longest else { return false }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: longest) { text in
      for (index, byte) in bytes.enumerated() { text[index] = CChar(bitPattern: byte) }
      text[bytes.count] = 0
      return withUnsafeMutableBytes(of: &address) {
        inet_pton(family, text.baseAddress, $0.baseAddress) == 1
      }
    }
  }

  /// Whether only programs on this machine can mean it.
  var isLoopback: Bool {
    switch self {
    case .name(let name): name == "localhost" || name.hasSuffix(".localhost")
    case .numeric(0, let low): low == 1 || low >> 24 == Self.mapped >> 24 | 127
    case .numeric: false
    }
  }

  /// The half of an IPv4 address in IPv6 form that says what it is.
  private static let mapped: UInt64 = 0xFFFF << 32

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true  // with - . _ ~
    default: false
    }
  }
}

/// The names by which clients may call a server in the header `Host`.
///
/// A page of another site can give its own name the address of this server, and its script then reads from here as
/// if from its own site. The browser still sends that name.
struct HostNames: Sendable {
  private let isLoopback: Bool
  private let isNamed: Bool
  private let publicHost: HostAddress.Host?

  /// The names of a server that listens on an address; `publicURL` is the one that its clients use.
  init(listen: ListenAddress, publicURL: String?) {
    isLoopback = HostAddress.Host(listening: listen.host)?.isLoopback ?? false
    isNamed = publicURL != nil
    publicHost = publicURL.flatMap { url in
      url.firstRange(of: "://").flatMap { scheme in
        HostAddress(String(url[scheme.upperBound...].prefix { $0 != "/" }))?.host
      }
    }
  }

  /// Whether a request may call the server so.
  ///
  /// - Parameters:
  ///   - host: The value of `Host`; nil if it is empty.
  ///   - isHealth: Whether it asks only for the server's health, as a load balancer does by an address.
  func accept(_ host: HostAddress?, isHealth: Bool) -> Bool {
    guard isLoopback || isNamed else { return true }
    if isHealth, !isLoopback { return true }
    guard let host = host?.host else { return false }
    return host == publicHost || host.isLoopback
  }
}

/// An address to listen on: `127.0.0.1:8080`, `[::1]:8080`, or `localhost:0` for any free port.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
  /// A name or a numeric address; empty: all addresses.
  package let host: String
  /// 0 to 65535; 0: any free port.
  package let port: Int

  /// Reads `HOST:PORT`; nil if it has another form.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.contains(where: { $0 == "[" || $0 == "]" }) else { return nil }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = Int(digits), (0...65_535).contains(port)
    else { return nil }
    self.init(host: String(host), port: port)
  }

  init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// `HOST:PORT`.
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Listens at the first address that the host's name has.
  ///
  /// - Returns: The socket, and the address with its port.
  func listen() throws(ListenError) -> (descriptor: Int32, address: ListenAddress) {
    do throws(SystemFailure) {
      let socket = try ListeningSocket(host: host, port: port, backlog: 4096)
      return (socket.descriptor, ListenAddress(host: host, port: socket.port))
    } catch {
      throw ListenError(self, error)
    }
  }
}

/// The server cannot listen on its address.
package struct ListenError: ExplainedError {
  package let message: String
  package let hint: String?
  /// What a caller can do about it.
  package let category: ErrorCategory

  init(_ address: ListenAddress, _ failure: SystemFailure) {
    let code = failure.code
    message = "could not listen on \(address): \(failure.reason)"
    category = code == EINVAL ? .usage : code == EACCES ? .notAllowed : .unavailable
    hint =
      switch code {
      case EADDRINUSE: "Another program listens there. Choose another port."
      case EACCES: "Ports below 1024 need privileges. Choose a higher one."
      case EADDRNOTAVAIL: "The machine has no such address."
      default: nil
      }
  }
}
