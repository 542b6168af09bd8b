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
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    var text = text.utf8.drop(while: isBlank)
    while let last = text.last, isBlank(last) { text.removeLast() }
    let host: Host?
    let rest: Substring.UTF8View
    if text.first == UInt8(ascii: "[") {
      guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      host = Host(address6: String(Substring(text[..<end].dropFirst())))
      rest = text[end...].dropFirst()
    } else {
      let end = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
      host = Host(name: text[..<end])
      rest = text[end...]
    }
    guard let host, rest.isEmpty || rest.first == UInt8(ascii: ":"),
      let port = rest.count > 1 ? ListenAddress.port(rest.dropFirst()) : 80
    else { return nil }
    (self.host, self.port) = (host, port)
  }
}

extension HostAddress.Host {
  /// Reads the host of an address to listen on, which has no brackets.
  init?(listening text: String) {
    guard let host = Self(address6: text) ?? Self(name: text.utf8[...]) else { return nil }
    self = host
  }

  /// Reads an IPv6 address; nil if the text is none.
  fileprivate init?(address6 text: String) {
    var address = in6_addr()
    guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
    let halves = withUnsafeBytes(of: &address) {
      ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    self = .numeric(UInt64(bigEndian: halves.0), UInt64(bigEndian: halves.1))
  }

  /// Reads a name or an IPv4 address; nil if it has a character that no name has.
  fileprivate init?(name text: Substring.UTF8View) {
    let short = text.last == UInt8(ascii: ".") ? text.dropLast() : text
    guard let first = short.first, short.last != UInt8(ascii: "."),
      short.allSatisfy(Self.isNameCharacter)
    else { return nil }
    let name = String(Substring(short))
    // With a dot it is four numbers, or not an address.
    if (0x30...0x39).contains(first), short.contains(UInt8(ascii: ".")),
      let address = Self(address6: "::ffff:" + name)
    {
      self = address
    } else {
      self = .name(name.lowercased())
    }
  }

  /// Whether only programs on this machine can mean it.
  var isLoopback: Bool {
    switch self {
    case .name(let name): name == "localhost" || name.hasSuffix(".localhost")
    case .numeric(0, let low): low == 1 || low >> 24 == 0xFFFF << 8 | 127
    case .numeric: false
    }
  }

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
    guard let port = Self.port(text[text.index(after: colon)...].utf8) else { return nil }
    self.init(host: String(host), port: port)
  }

  /// Reads the number of a port; nil if it is none, or has a sign.
  static func port(_ digits: Substring.UTF8View) -> Int? {
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(Substring(digits)).flatMap { $0 <= 65_535 ? $0 : nil }
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
