internal import CommandLine
package import QuakeModel
package import QuakeWorker

/// Formats an instant as a person says it: `12 min ago`.
enum RelativeTime {
  /// The most columns that it takes.
  static let width = 10

  /// The instant as seen at another one: `4 s ago`, `12 min ago`, `3 h ago`, `5 d ago`, `in 2 min`; its date, if
  /// it is 100 days or more away.
  static func text(_ time: Timestamp, at now: Timestamp) -> String {
    let (difference, overflow) = now.microseconds.subtractingReportingOverflow(time.microseconds)
    let seconds = difference.magnitude / 1_000_000
    guard !overflow, seconds < 100 * 86_400 else { return date(time) }
    let amount =
      switch seconds {
      case ..<60: "\(seconds) s"
      case ..<3600: "\(seconds / 60) min"
      case ..<172_800: "\(seconds / 3600) h"
      default: "\(seconds / 86_400) d"
      }
    return difference < 0 ? "in \(amount)" : "\(amount) ago"
  }

  private static func date(_ time: Timestamp) -> String {
    let text = "\(time)"
    return String(text[..<(text.firstIndex(of: "T") ?? text.endIndex)])
  }
}

extension Timestamp {
  /// The moment as people read it; see `MomentText`.
  package var text: String { MomentText.text(microseconds: microseconds) }
}

extension FeedPause {
  /// "paused by X since T".
  package var text: String { "paused by \(role) since \(since.text)" }
}
