/// Decides, request by request, whether a redirect may lead where it leads.
///
/// What the user names is his own affair. A server that is asked must not send us on to where it could not
/// go itself, or where others can read along: from https to http, or nearer to this machine than it is.
struct RedirectGuard {
  /// Whether every redirect is followed.
  let trusts: Bool
  /// Whether a proxy makes the connections: then what is connected to says nothing of the server.
  let usesProxy: Bool
  /// The kind of an address; another one in tests, where all are loopback's.
  let kind: (String) -> AddressKind?
  /// The nearest that may still be asked; nil before the first request, which may be to anywhere.
  private(set) var reach: AddressKind?
  private var isSecure = false
  /// Why a request was not made.
  private(set) var refusal: String?

  /// - Parameter reach: The nearest that the first request may go to; nil: anywhere.
  init(
    trusts: Bool, usesProxy: Bool, reach: AddressKind?, kind: @escaping (String) -> AddressKind?
  ) {
    self.trusts = trusts
    self.usesProxy = usesProxy
    self.reach = reach
    self.kind = kind
  }

  /// Whether an address may be connected to. That is before anything else is known of the request.
  mutating func admits(address: String) -> Bool {
    guard !trusts, !usesProxy, let reach else { return true }
    let kind = kind(address) ?? .loopback
    guard kind > reach else { return true }
    refuse(kind, reach)
    return false
  }

  /// Whether a request may be sent, over a new connection or one that was there.
  mutating func admits(url: String, address: String) -> Bool {
    // Of several addresses another one may have been admitted.
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
    // An address that cannot be read is trusted with nothing.
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

  /// What the text of a host tells where its name is resolved elsewhere.
  private static func kind(
    ofHost host: String, _ kind: (String) -> AddressKind?
  ) -> AddressKind? {
    let name = host.lowercased()
    return name == "localhost" || name.hasSuffix(".localhost") ? .loopback : kind(name)
  }
}
