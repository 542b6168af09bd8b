import Glibc

/// The name or the numeric address of a server, and its port: `quakes.example.org`, `127.0.0.1:8080`, `[::1]:8080`.
struct HostAddress: Equatable {
  enum Host: Equatable {
    /// The bytes of an IPv6 address; an IPv4 address in its form of IPv6.
    case numeric([UInt8])
    /// A name in small letters, without a dot at its end.
    case name(String)
  }

  let host: Host
  /// 0 to 65535; without one in the text the port of HTTP.
  let port: Int

  /// Reads the text of a `Host` field, with the blanks around it, or the same part of a URL; nil if it has another form.
  init?(_ text: String) {
    var text = text[...].drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    let rest: Substring
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]"),
        let address = Self.address6(text[..<end].dropFirst())
      else { return nil }
      host = .numeric(address)
      rest = text[end...].dropFirst()
    } else {
      let name = text.prefix { $0 != ":" }
      guard let read = Host(name: name) else { return nil }
      host = read
      rest = text[name.endIndex...]
    }
    guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
    let digits = rest.dropFirst()
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    let number = digits.isEmpty ? 80 : Int(digits)
    guard let number, number <= 65_535 else { return nil }
    port = number
  }

  /// The bytes of an IPv6 address; nil if the text is none.
  fileprivate static func address6(_ text: Substring) -> [UInt8]? {
    var address = in6_addr()
    guard inet_pton(AF_INET6, String(text), &address) == 1 else { return nil }
    return withUnsafeBytes(of: &address) { Array($0) }
  }
}

extension HostAddress.Host {
  /// Reads a name or an IPv4 address; nil if it has a character that no name has.
  init?(name: Substring) {
    var address = in_addr()
    if inet_pton(AF_INET, String(name), &address) == 1 {
      self = .numeric(Self.mapped + withUnsafeBytes(of: &address) { Array($0) })
      return
    }
    let short = name.hasSuffix(".") ? name.dropLast() : name
    guard !short.isEmpty, short.utf8.allSatisfy(Self.isNameCharacter) else { return nil }
    self = .name(short.lowercased())
  }

  /// Reads the host of an address to listen on, which has no brackets.
  init?(listening text: String) {
    if let address = HostAddress.address6(text[...]) {
      self = .numeric(address)
    } else {
      self.init(name: text[...])
    }
  }

  /// Whether only programs on this machine can mean it.
  var isLoopback: Bool {
    switch self {
    case .name(let name): name == "localhost" || name.hasSuffix(".localhost")
    case .numeric(let bytes):
      bytes.starts(with: Self.mapped) ? bytes[12] == 127 : bytes == Self.loopback
    }
  }

  /// The beginning of an IPv4 address in IPv6 form.
  private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
  private static let loopback = [UInt8](repeating: 0, count: 15) + [1]

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true  // with - . _ ~
    default: false
    }
  }
}
