package import CommandLine
package import QuakeModel
package import QuakeWorker

/// The result of a request to poll a feed, for people and for programs.
package struct RefreshReport {
  private let request: Int64
  private let feed: RefreshRequest.Status

  /// The result of request number `request` for one feed.
  package init(request: Int64, feed: RefreshRequest.Status) {
    self.request = request
    self.feed = feed
  }

  /// One line; nil if the poll failed or did not happen.
  package var text: String? {
    func count(_ value: Int64?) -> String { Readable.count(Int(value ?? 0)) }
    switch feed.outcome {
    case .imported:
      return "\(feed.feed): \(count(feed.seen)) seen: \(count(feed.inserted)) inserted, "
        + "\(count(feed.updated)) updated"
        + (feed.importID.map { "; import \($0)" } ?? "")
        + (feed.token.map { "; token \($0)" } ?? "")
    case .notModified: return "\(feed.feed): not modified"
    case .badData, .unavailable, .failed, nil: return nil
    }
  }

  /// The failure, if the poll failed or did not happen.
  package func problem(timeout: Duration) -> Failure? {
    switch feed.outcome {
    case .imported, .notModified: nil
    case .badData, .unavailable, .failed:
      Failure(
        status, "could not refresh feed \"\(feed.feed)\": \(feed.error ?? "unknown")",
        hint: """
          The worker's log says more, and "quake-admin feeds show \(feed.feed)" whether the feed is paused.
          """)
    case nil where feed.isTaken || feed.isHeld:
      Failure(
        status, "feed \"\(feed.feed)\" was not polled within \(timeout.text)",
        detail: "A worker polls it, but has not finished.",
        hint: "It may be busy with a large import: wait longer, with --timeout.")
    case nil:
      Failure(
        status, "feed \"\(feed.feed)\" was not polled: no worker runs that polls it",
        hint: "Start one: quake-ingest run --feed \(feed.feed)")
    }
  }

  package var status: ExitStatus {
    switch feed.outcome {
    case .imported, .notModified: .ok
    case .badData: .badData
    case .failed: .failed
    case .unavailable, nil: .unavailable
    }
  }

  package func write(to json: inout JSONWriter) { json.refresh(feed, request: request) }
}

extension ImportReport {
  package var counts: String {
    func count(_ value: Int64) -> String { Readable.count(Int(value)) }
    return "\(count(seen)) seen: \(count(inserted)) inserted, \(count(updated)) updated, "
      + "\(count(unchanged)) unchanged, \(count(rejected)) rejected, \(count(duplicate)) duplicate"
  }

  /// Writes the counts of records by result as members of an object.
  package func writeCounts(to json: inout JSONWriter) {
    json.member("seen", seen)
    json.member("inserted", inserted)
    json.member("updated", updated)
    json.member("unchanged", unchanged)
    json.member("rejected", rejected)
    json.member("duplicate", duplicate)
  }

  /// Writes the counts of events that the import did not name, or of which the store has a newer state.
  package func writeOtherCounts(to json: inout JSONWriter) {
    json.member("stale", stale)
    json.member("superseded", superseded)
    json.member("withdrawn", withdrawn)
    json.member("restored", restored)
  }
}
