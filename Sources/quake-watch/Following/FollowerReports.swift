import Basics
import CommandLine
import QuakeHistory
import QuakeModel

/// Tells once how a follower learns of new changes, and again when that becomes different.
struct FollowerReports {
  private let diagnostics: Diagnostics
  /// What was told last.
  private var session = SessionKind.direct
  private var pollingReason: HistoryFollower.PollingReason?

  init(_ diagnostics: Diagnostics) { self.diagnostics = diagnostics }

  /// Another connection has taken the place of a lost one.
  func reconnected(_ follower: HistoryFollower) {
    diagnostics.warning(
      "connected again; continuing after token \(follower.cursor?.description ?? "0")")
  }

  mutating func session(of follower: HistoryFollower) {
    guard follower.session != session else { return }
    session = follower.session
    let interval = HistoryFollower.pollInterval.text
    switch follower.session {
    case .direct: diagnostics.note("listening for notifications again")
    case .standby:
      diagnostics.warning(
        """
        a hot standby cannot notify of changes (LISTEN): polling how far it has replayed, 10 to 50 times a second
        """)
    case .pooled:
      diagnostics.warning(
        """
        the pooler shares sessions between clients, so the server cannot notify of changes (LISTEN): \
        polling every \(interval)
        """,
        hint: "Connect to the server itself, or to a pool in session mode, to be notified at once.")
    }
  }

  mutating func polling(of follower: HistoryFollower) {
    guard follower.pollingReason != pollingReason else { return }
    pollingReason = follower.pollingReason
    let interval = HistoryFollower.pollInterval.text
    switch follower.pollingReason {
    case nil: diagnostics.note("listening for notifications again")
    case .uselessNotifications:
      diagnostics.warning(
        "notifications keep arriving without any changes: polling every \(interval)",
        hint:
          "Another program notifies on channel quake_changes, which any role that may connect can.")
    case .fullQueue:
      diagnostics.warning(
        """
        the server's notification queue is full, so that commits do not notify: polling every \
        \(interval)
        """,
        hint: "\"quake-admin status\" names the session that keeps the queue full.")
    }
  }
}
