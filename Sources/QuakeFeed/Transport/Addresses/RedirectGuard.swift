/// Decides for each request whether a redirect may be followed.
///
/// A URL from the user is always permitted. A server must not redirect to addresses that it cannot reach
/// itself, which are nearer to this machine, or to an unencrypted connection.
struct RedirectGuard {
  /// Whether every redirect is followed.
  let trusts: Bool
  /// Whether a proxy makes the connections. The address of a connection is then that of the proxy.
  let usesProxy: Bool
  /// Determines the kind of an address. Tests replace it, because all their addresses are loopback ones.
  let kind: (String) -> AddressKind?
  /// The nearest permitted kind of address; nil before the first request, which may be to any address.
  private(set) var reach: AddressKind?
  private var isSecure = false
  /// The reason for which a request was refused.
  private(set) var refusal: String?

  /// - Parameter reach: The nearest permitted kind of address for the first request; nil for no limit.
  init(
    trusts: Bool, usesProxy: Bool, reach: AddressKind?, kind: @escaping (String) -> AddressKind?
  ) {
    self.trusts = trusts
    self.usesProxy = usesProxy
    self.reach = reach
    self.kind = kind
  }

  /// Whether a connection to an address is permitted. It is made before the details of the request are known.
  mutating func admits(address: String) -> Bool {
    guard !trusts, !usesProxy, let reach else { return true }
    let kind = kind(address) ?? .loopback
    guard kind > reach else { return true }
    refuse(kind, reach)
    return false
  }

  /// Whether a request may be sent, over a new or an existing connection.
  mutating func admits(url: String, address: String) -> Bool {
    // If there are several addresses, another one may have been permitted.
    refusal = nil
    let isSecure = URLText.scheme(of: url) == "https"
    defer { self.isSecure = self.isSecure || isSecure }
    guard !trusts else { return true }
    guard isSecure || !self.isSecure else {
      refusal = """
        The server redirects from https to http, where others can read and change what is sent: \
        \(FeedURL(url))
        """
      return false
    }
    let target = usesProxy ? Self.kind(ofHost: URLText.host(of: url) ?? "", kind) : kind(address)
    // An address that cannot be parsed is not permitted.
    let found = target ?? (usesProxy ? .everywhere : .loopback)
    guard let reach else {
      reach = found
      return true
    }
    guard found <= reach else {
      refuse(found, reach)
      return false
    }
    self.reach = min(reach, found)
    return true
  }

  private mutating func refuse(_ kind: AddressKind, _ reach: AddressKind) {
    refusal = "A server of \(reach.words) leads to an address of \(kind.words)"
  }

  /// The kind of a host by its text, for names that a proxy resolves.
  private static func kind(
    ofHost host: String, _ kind: (String) -> AddressKind?
  ) -> AddressKind? {
    let name = host.lowercased()
    return name == "localhost" || name.hasSuffix(".localhost") ? .loopback : kind(name)
  }
}
