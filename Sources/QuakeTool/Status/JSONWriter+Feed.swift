internal import Basics
package import QuakeModel
package import QuakeWorker

extension JSONWriter {
  /// Writes the members of a feed.
  ///
  /// - Parameter lag: The time since the last successful poll; nil if there was none.
  package mutating func members(of feed: StoreStatus.Feed, lag: Duration?) {
    key("name")
    string(feed.name)
    key("generated")
    timestamp(feed.generated)
    key("polled_at")
    timestamp(feed.polledAt)
    key("succeeded_at")
    timestamp(feed.succeededAt)
    key("lag_seconds")
    double(lag?.inSeconds)
    key("interval_seconds")
    double(feed.interval)
    key("next_due")
    timestamp(feed.nextDue)
    key("failures")
    integer(feed.failures)
    key("error")
    string(feed.error)
    key("import")
    integer(feed.lastImport)
    key("held")
    bool(feed.isHeld)
    key("holder_pid")
    integer(feed.holderPID)
    key("holder_application")
    string(feed.holderApplication)
    key("holder_address")
    string(feed.holderAddress)
    key("paused_at")
    timestamp(feed.pause?.since)
    key("paused_by")
    string(feed.pause?.role)
    key("ended_at")
    timestamp(feed.endedAt)
  }
}
