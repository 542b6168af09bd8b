internal import Glibc

/// Decides for each request whether a redirect may be followed.
///
/// A URL from the user is always permitted. A server must not redirect to addresses that it cannot reach
/// itself, which are nearer to this machine, or to an unencrypted connection.
package struct RedirectGuard {
  /// Whether every redirect is followed.
  private let trusts: Bool
  /// Whether a proxy makes the connections. The address of a connection is then that of the proxy.
  private let usesProxy: Bool
  /// Determines the kind of an address. Tests replace it, because all their addresses are loopback ones.
  private let kind: (String) -> AddressKind?
  /// A URL without its secrets.
  private let shown: (String) -> String
  /// The nearest permitted kind of address; nil before the first request, which may be to any address.
  package private(set) var reach: AddressKind?
  private var isSecure = false
  /// The reason for which a request was refused.
  package private(set) var refusal: String?

  /// - Parameter reach: The nearest permitted kind of address for the first request; nil for no limit.
  package init(
    trusts: Bool, usesProxy: Bool, reach: AddressKind?, kind: @escaping (String) -> AddressKind?,
    shown: @escaping (String) -> String
  ) {
    self.trusts = trusts
    self.usesProxy = usesProxy
    self.reach = reach
    self.kind = kind
    self.shown = shown
  }

  /// Whether a connection to an address is permitted. It is made before the details of the request are known.
  package mutating func admits(address: String) -> Bool {
    guard !trusts, !usesProxy, let reach else { return true }
    let kind = kind(address) ?? .loopback
    guard kind > reach else { return true }
    noteRefusal(of: kind, from: reach)
    return false
  }

  /// Whether a request may be sent, over a new or an existing connection.
  package mutating func admits(url: String, address: String) -> Bool {
    // If there are several addresses, another one may have been permitted.
    refusal = nil
    let parts = CurlURL(url)
    let isSecure = parts?.scheme == "https"
    defer { self.isSecure = self.isSecure || isSecure }
    guard !trusts else { return true }
    guard isSecure || !self.isSecure else {
      refusal = """
        The server redirects from https to http, where others can read and change what is sent: \
        \(shown(url))
        """
      return false
    }
    // An address or a URL that cannot be parsed is not permitted.
    let found =
      usesProxy
      ? parts.map { Self.kind(ofHost: $0.host, kind) ?? .everywhere } ?? .loopback
      : kind(address) ?? .loopback
    guard let reach else {
      reach = found
      return true
    }
    guard found <= reach else {
      noteRefusal(of: found, from: reach)
      return false
    }
    self.reach = min(reach, found)
    return true
  }

  private mutating func noteRefusal(of kind: AddressKind, from reach: AddressKind) {
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

/// The kind of an IP address, ordered from public addresses to those of this machine.
public enum AddressKind: Int, Sendable, Comparable {
  /// An address of the public network.
  case everywhere
  /// One of a private network (RFC 1918, RFC 6598, RFC 4193), or reserved for something else.
  case privateNetwork
  /// A link-local address, such as those of the metadata services of clouds.
  case link
  /// This machine.
  case loopback

  /// A kind nearer to this machine is greater.
  public static func < (left: AddressKind, right: AddressKind) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The kind of an address in the form of `inet_ntop`, with or without brackets; nil if the text is not an
  /// address.
  package init?(_ text: some StringProtocol) {
    var text = Substring(text)
    if text.first == "[", text.last == "]" { text = text.dropFirst().dropLast() }
    // A zone, as in fe80::1%eth0.
    let address = String(text.prefix { $0 != "%" })
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, address, &four) == 1 {
      self = Self.kind(ofFour: withUnsafeBytes(of: four) { Array($0) })
    } else if inet_pton(AF_INET6, address, &six) == 1 {
      self = Self.kind(ofSix: withUnsafeBytes(of: six) { Array($0) })
    } else {
      return nil
    }
  }

  private static func kind(ofFour address: [UInt8]) -> AddressKind {
    switch (address[0], address[1], address[2]) {
    case (127, _, _), (0, _, _): .loopback
    case (169, 254, _): .link
    case (10, _, _), (172, 16...31, _), (192, 168, _), (100, 64...127, _): .privateNetwork
    case (192, 0, 0), (192, 0, 2), (198, 18...19, _), (198, 51, 100), (203, 0, 113): .privateNetwork
    case (224..., _, _): .privateNetwork  // multicast, reserved, broadcast
    default: .everywhere
    }
  }

  private static func kind(ofSix address: [UInt8]) -> AddressKind {
    let isLow = address[..<10].allSatisfy { $0 == 0 }
    if isLow, address[10...11].allSatisfy({ $0 == 0xFF }) {
      return kind(ofFour: Array(address[12...]))  // ::ffff:0:0/96
    }
    if isLow, address[10...11].allSatisfy({ $0 == 0 }) {
      // ::, ::1, and deprecated IPv4-compatible addresses.
      return address[12...14].allSatisfy { $0 == 0 }
        ? .loopback : kind(ofFour: Array(address[12...]))
    }
    switch (address[0], address[1]) {
    case (0x00, 0x64): return kind(ofFour: Array(address[12...]))  // 64:ff9b::/96, translated
    case (0x20, 0x02): return kind(ofFour: Array(address[2...5]))  // 2002::/16, tunnelled
    case (0xFE, 0x80...0xBF), (0xFE, 0xC0...0xFF): return .link
    case (0xFC...0xFD, _): return .privateNetwork
    case (0xFF, _): return .privateNetwork  // multicast
    case (0x20...0x3F, _):
      let isReserved =
        address[0] == 0x20 && address[1] == 0x01
        && (address[2] < 0x02 || (address[2], address[3]) == (0x0D, 0xB8))
      return isReserved ? .privateNetwork : .everywhere
    default: return .privateNetwork
    }
  }

  var words: String {
    switch self {
    case .everywhere: "the public network"
    case .privateNetwork: "a private network"
    case .link: "the local link"
    case .loopback: "this machine"
    }
  }
}
