/// Whether a transfer is quick enough: not silent, not slow, and done in time.
///
/// It has a clock of its own, which goes only while the transfer is looked after: what a server sends
/// while we are busy with something else is taken in afterwards.
struct TransferPace {
  /// What a transfer has to keep to, in milliseconds.
  struct Limits {
    /// For how long nothing may come.
    var stall: Int
    /// Over how long the rate is measured.
    var window: Int
    /// Bytes a second that have to come, once anything has.
    var minimumRate: Int
    /// How long all of it may take; nil: as long as it likes.
    var total: Int?
  }

  /// Why a transfer is ended.
  enum Failure: Equatable {
    case stalled
    /// Counts bytes that came within a time, in milliseconds.
    case slow(Int, Int)
    case late
  }

  private let limits: Limits
  /// Nanoseconds, so that many short times add up.
  private var clock = 0
  private var idleSince = 0
  private var seen = 0
  /// How many bytes had come at some times of the last while, the earliest first.
  private var samples: [(at: Int, bytes: Int)] = []

  private static let samplesPerWindow = 10

  init(_ limits: Limits) {
    self.limits = limits
  }

  private static func nanoseconds(_ milliseconds: Int) -> Int { milliseconds * 1_000_000 }

  /// The window is never shorter than the silence that is allowed.
  private var window: Int { Self.nanoseconds(max(limits.window, limits.stall)) }

  /// Begins to look after the transfer again, after a time that does not count.
  mutating func resume() { idleSince = clock }

  /// Counts a time that the transfer was looked after.
  ///
  /// - Parameters:
  ///   - bytes: How many bytes have come so far.
  ///   - isConnecting: Whether the request is not on its way yet; that has a limit of its own.
  mutating func advance(by nanoseconds: Int, bytes: Int, isConnecting: Bool) -> Failure? {
    clock += max(0, nanoseconds)
    if bytes != seen || isConnecting {
      seen = bytes
      idleSince = clock
    }
    if let total = limits.total, clock >= Self.nanoseconds(total) { return .late }
    if clock - idleSince >= Self.nanoseconds(limits.stall) { return .stalled }
    return bytes == 0 ? nil : rate(bytes)
  }

  private mutating func rate(_ bytes: Int) -> Failure? {
    guard let last = samples.last else {
      samples.append((clock, 0))
      return nil
    }
    if clock - last.at >= window / Self.samplesPerWindow { samples.append((clock, bytes)) }
    // One that is as old as the window, or older, has to stay.
    while samples.count > 1, clock - samples[1].at >= window { samples.removeFirst() }
    let age = clock - samples[0].at
    guard age >= window else { return nil }
    let came = bytes - samples[0].bytes
    let wanted = Double(limits.minimumRate) * Double(age) / 1e9
    return Double(came) < wanted ? .slow(came, age / 1_000_000) : nil
  }

  /// For how long the transfer may be left waiting before it has to be looked at again: milliseconds.
  var patience: Int {
    var left = Self.nanoseconds(limits.stall) - (clock - idleSince)
    if let total = limits.total { left = min(left, Self.nanoseconds(total) - clock) }
    if seen > 0 { left = min(left, window / Self.samplesPerWindow) }
    return max(1, (left + 999_999) / 1_000_000)
  }
}
