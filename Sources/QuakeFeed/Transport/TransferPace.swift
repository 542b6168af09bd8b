import Basics

/// Checks that a transfer is neither silent nor slow, and ends in time.
///
/// Its clock does not run while the program does other work for long, because data that a server sends meanwhile is
/// received afterwards.
struct TransferPace {
  /// The limits of a transfer, in milliseconds.
  struct Limits {
    /// The longest time without data.
    var stall: Int
    /// The time over which the rate is measured.
    var window: Int
    /// The least rate in bytes a second, after the first byte.
    var minimumRate: Int
    /// The longest time of the transfer; nil for no limit.
    var total: Int?
  }

  enum Failure: Equatable {
    case stalled
    /// The bytes that arrived within a time, in milliseconds.
    case slow(Int, Int)
    case late
  }

  private let limits: Limits
  /// Nanoseconds, so that many short times add up.
  private var clock = 0
  private var idleSince = 0
  private var seen = 0
  /// Samples of the number of bytes received, within the window, the earliest first.
  private var samples: [(at: Int, bytes: Int)] = []

  private static let samplesPerWindow = 10

  init(_ limits: Limits) {
    self.limits = limits
  }

  /// How long `work` takes, in nanoseconds.
  static func nanoseconds(_ work: () -> Void) -> Int {
    let begun = MonotonicClock.now()
    work()
    return Int((MonotonicClock.now() - begun) / .nanoseconds(1))
  }

  private static func nanoseconds(_ milliseconds: Int) -> Int { milliseconds * 1_000_000 }

  /// The window is never shorter than the limit of silence.
  private var window: Int { Self.nanoseconds(max(limits.window, limits.stall)) }

  /// Starts the clock again, after a time that does not count.
  mutating func resume() { idleSince = clock }

  /// Counts a time during which the transfer was driven.
  ///
  /// - Parameters:
  ///   - bytes: The number of bytes received so far.
  ///   - isConnecting: Whether the request has not been sent yet, which has a limit of its own.
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
    // One sample that is at least as old as the window must be kept.
    while samples.count > 1, clock - samples[1].at >= window { samples.removeFirst() }
    let age = clock - samples[0].at
    guard age >= window else { return nil }
    let came = bytes - samples[0].bytes
    let wanted = Double(limits.minimumRate) * Double(age) / 1e9
    return Double(came) < wanted ? .slow(came, age / 1_000_000) : nil
  }

  /// The milliseconds until the limits must be checked again.
  var patience: Int {
    var left = Self.nanoseconds(limits.stall) - (clock - idleSince)
    if let total = limits.total { left = min(left, Self.nanoseconds(total) - clock) }
    if seen > 0 { left = min(left, window / Self.samplesPerWindow) }
    return max(1, (left + 999_999) / 1_000_000)
  }
}
