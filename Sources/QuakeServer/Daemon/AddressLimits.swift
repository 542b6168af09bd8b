import Basics
import Glibc
import Synchronization

/// Limits on what one address may do: connections, and requests per second.
///
/// Loopback addresses have none by default: a reverse proxy connects from there for everyone.
package final class AddressLimits: Sendable {
  package struct Settings: Sendable {
    /// The most connections of one address; 0: no limit.
    package var connections = 200
    /// The requests per second that one address may send in the long run; 0: no limit. It may send ten seconds'
    /// worth at once.
    package var rate = 100.0
    /// Whether the limits are for loopback addresses as well.
    package var includesLoopback = false
  }

  private struct Entry {
    var connections = 0
    /// How many requests it may send now.
    var allowance: Double
    var updated: Duration
  }

  /// More addresses than this are not kept: those without connections are forgotten.
  private static let mostEntries = 20_000

  private let settings: Settings
  private let entries = Mutex<[String: Entry]>([:])

  init(_ settings: Settings) {
    self.settings = settings
  }

  private func isExempt(_ address: String) -> Bool {
    !settings.includesLoopback && (address.hasPrefix("127.") || address == "::1")
  }

  /// The owner of an address's jobs in the queue; empty for all addresses without limits, which share one.
  func owner(_ address: String) -> String {
    isExempt(address) ? "" : AddressGroup.groups(of: address)[0].name
  }

  /// Counts a new connection; false if the address has too many.
  func open(_ address: String) -> Bool {
    guard settings.connections > 0, !isExempt(address) else { return true }
    let groups = AddressGroup.groups(of: address)
    return entries.withLock { entries in
      Self.forgetSome(&entries)
      let isAllowed = groups.allSatisfy {
        entries[$0.name]?.connections ?? 0 < settings.connections * $0.share
      }
      guard isAllowed else { return false }
      for group in groups { entries[group.name, default: new(group)].connections += 1 }
      return true
    }
  }

  func close(_ address: String) {
    guard settings.connections > 0, !isExempt(address) else { return }
    entries.withLock { entries in
      for group in AddressGroup.groups(of: address) { entries[group.name]?.connections -= 1 }
    }
  }

  /// Counts a request.
  ///
  /// - Throws: `HTTPError` 429 if the address has sent too many.
  func request(_ address: String) throws(HTTPError) {
    guard settings.rate > 0, !isExempt(address) else { return }
    let now = MonotonicClock.now()
    let groups = AddressGroup.groups(of: address)
    let isAllowed = entries.withLock { entries in
      Self.forgetSome(&entries)
      for group in groups {
        var entry = entries[group.name] ?? new(group)
        entry.allowance = min(
          burst(of: group),
          entry.allowance + max(0, (now - entry.updated).inSeconds) * rate(of: group))
        entry.updated = now
        entries[group.name] = entry
      }
      guard groups.allSatisfy({ entries[$0.name]?.allowance ?? 0 >= 1 }) else { return false }
      for group in groups { entries[group.name]?.allowance -= 1 }
      return true
    }
    guard isAllowed else {
      throw HTTPError(
        429, "Your address sends more requests than the server allows. Wait a moment.",
        ["Retry-After": "\(max(1, Int(1 / settings.rate)))"])
    }
  }

  private func rate(of group: AddressGroup) -> Double { settings.rate * Double(group.share) }

  private func burst(of group: AddressGroup) -> Double { max(1, rate(of: group) * 10) }

  private func new(_ group: AddressGroup) -> Entry {
    Entry(allowance: burst(of: group), updated: MonotonicClock.now())
  }

  private static func forgetSome(_ entries: inout [String: Entry]) {
    guard entries.count >= mostEntries else { return }
    entries = entries.filter { $0.value.connections > 0 }
  }
}

extension EventServer {
  /// An IP address in the form in which the server sees that of a client; nil if the text is none.
  package static func clientAddress(_ text: String) -> String? { AddressGroup.canonical(text) }
}

/// Addresses that count as one client.
struct AddressGroup: Equatable {
  let name: String
  /// How many times as much as one address it may do.
  let share: Int

  /// How many times as much as one of its networks a site may do.
  static let site = 4

  /// An address as its client has it: an IPv4 address in IPv6 form, as on a socket of both, is one of IPv4.
  static func plain(_ address: String) -> String {
    var bytes = in6_addr()
    guard address.utf8.first == UInt8(ascii: ":"), inet_pton(AF_INET6, address, &bytes) == 1 else {
      return address
    }
    return withUnsafeBytes(of: &bytes) { bytes in
      let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
      return isMapped ? bytes[12...].map(String.init).joined(separator: ".") : address
    }
  }

  /// An address as a connection from it shows it; nil if the text is no IP address.
  static func canonical(_ text: String) -> String? {
    var bytes = in_addr()
    if inet_pton(AF_INET, text, &bytes) == 1 { return text }
    // A link-local address may have the name of an interface.
    let zone = text.drop { $0 != "%" }
    var long = in6_addr()
    var name = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &long) == 1,
      inet_ntop(AF_INET6, &long, &name, socklen_t(name.count)) != nil
    else { return nil }
    let address = String(
      decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return plain(address) + zone
  }

  /// The groups that an address belongs to, the smallest first.
  ///
  /// With IPv6 one client has a whole network of 64 bits, from which it takes any address that it wants, and a site
  /// has 65,536 of those.
  static func groups(of address: String) -> [AddressGroup] {
    guard address.utf8.contains(UInt8(ascii: ":")) else {
      return [AddressGroup(name: address, share: 1)]
    }
    var bytes = in6_addr()
    // A link-local address may have the name of an interface.
    let plain = String(address.prefix { $0 != "%" })
    guard inet_pton(AF_INET6, plain, &bytes) == 1 else {
      return [AddressGroup(name: address, share: 1)]
    }
    return withUnsafeBytes(of: &bytes) { bytes in
      func name(_ count: Int) -> String {
        bytes.prefix(count).map { String($0, radix: 16) }.joined(separator: ".") + "/\(count * 8)"
      }
      return [
        AddressGroup(name: name(8), share: 1), AddressGroup(name: name(6), share: site),
      ]
    }
  }
}
