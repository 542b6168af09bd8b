/// The names by which clients may call a server in the header `Host`.
///
/// A page of another site can give its own name the address of this server, and its script then reads from here as
/// if from its own site. The browser still sends that name.
struct HostNames: Sendable {
  private let isLoopback: Bool
  private let publicName: String?

  /// The names of a server that listens on an address; `publicURL` is the one that its clients use.
  init(listen: ListenAddress, publicURL: String?) {
    isLoopback = Self.isLoopback(listen.host)
    publicName = publicURL.flatMap { url in
      url.firstRange(of: "://").map { Self.name(in: url[$0.upperBound...].prefix { $0 != "/" }) }
    }
  }

  /// Whether a request may have a value of `Host`. Without one it is of HTTP/1.0, which no browser sends.
  ///
  /// - Parameter isHealth: Whether it asks only for the server's health, as a load balancer does by an address.
  func accept(_ host: String?, isHealth: Bool) -> Bool {
    guard let host, isLoopback || publicName != nil else { return true }
    if isHealth, !isLoopback { return true }
    let name = Self.name(in: host[...])
    return name == publicName || Self.isLoopback(name)
  }

  private static func isLoopback(_ name: String) -> Bool {
    name == "localhost" || name.hasSuffix(".localhost") || name == "::1"
      || name.hasPrefix("127.") && name.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) }
  }

  /// The name in `NAME:PORT`, in small letters.
  private static func name(in authority: Substring) -> String {
    var name = authority.drop { $0 == " " || $0 == "\t" }
    while let last = name.last, last == " " || last == "\t" { name.removeLast() }
    if name.hasPrefix("[") {
      name = name.dropFirst().prefix { $0 != "]" }
    } else {
      name = name.prefix { $0 != ":" }
      if name.hasSuffix(".") { name.removeLast() }
    }
    return name.lowercased()
  }
}
