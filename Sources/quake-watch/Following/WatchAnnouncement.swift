import CommandLine
import QuakeModel

/// Tells a person once that the watch has begun, because it may print nothing for long.
struct WatchAnnouncement {
  private var isMade = false

  /// To be called when everything up to a cursor has been handed over.
  mutating func tell(_ cursor: HistoryCursor?, _ diagnostics: Diagnostics) {
    guard !isMade, let cursor else { return }
    isMade = true
    diagnostics.note("watching after \(cursor.token); Ctrl-C ends")
  }
}
