import Basics
import Synchronization

/// Limits on what one address may do: connections, and requests per second.
///
/// Loopback addresses have none by default: a reverse proxy connects from there for everyone.
final class AddressLimits: Sendable {
  struct Settings: Sendable {
    /// The most connections of one address; 0: no limit.
    var connections = 200
    /// The requests per second that one address may send in the long run; 0: no limit. It may send ten seconds'
    /// worth at once.
    var rate = 100.0
    /// Whether the limits are for loopback addresses as well.
    var includesLoopback = false
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
  func owner(_ address: String) -> String { isExempt(address) ? "" : address }

  private var burst: Double { max(1, settings.rate * 10) }

  /// Counts a new connection; false if the address has too many.
  func open(_ address: String) -> Bool {
    guard settings.connections > 0, !isExempt(address) else { return true }
    return entries.withLock { entries in
      Self.forgetSome(&entries)
      var entry = entries[address] ?? Entry(allowance: burst, updated: MonotonicClock.now())
      guard entry.connections < settings.connections else { return false }
      entry.connections += 1
      entries[address] = entry
      return true
    }
  }

  /// A connection has ended.
  func close(_ address: String) {
    guard settings.connections > 0, !isExempt(address) else { return }
    entries.withLock { $0[address]?.connections -= 1 }
  }

  /// Counts a request.
  ///
  /// - Throws: `HTTPError` 429 if the address has sent too many.
  func request(_ address: String) throws(HTTPError) {
    guard settings.rate > 0, !isExempt(address) else { return }
    let now = MonotonicClock.now()
    let isAllowed = entries.withLock { entries in
      Self.forgetSome(&entries)
      var entry = entries[address] ?? Entry(allowance: burst, updated: now)
      entry.allowance = min(
        burst, entry.allowance + (now - entry.updated).inSeconds * settings.rate)
      entry.updated = now
      let isAllowed = entry.allowance >= 1
      if isAllowed { entry.allowance -= 1 }
      entries[address] = entry
      return isAllowed
    }
    guard isAllowed else {
      throw HTTPError(
        429, "Your address sends more requests than the server allows. Wait a moment.",
        ["Retry-After": "\(max(1, Int(1 / settings.rate)))"])
    }
  }

  private static func forgetSome(_ entries: inout [String: Entry]) {
    guard entries.count >= mostEntries else { return }
    entries = entries.filter { $0.value.connections > 0 }
  }
}
