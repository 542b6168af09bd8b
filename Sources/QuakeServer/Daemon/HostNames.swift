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
