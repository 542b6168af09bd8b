import QuakeModel
import QuakeWorker

extension BackfillWindow {
  /// `2020-01-01T00:00:00Z to 2020-02-01T00:00:00Z`.
  var name: String {
    "\(start.description.prefix(19))Z to \(end.description.prefix(19))Z"
  }

  /// Its first second.
  var firstSecond: BackfillWindow? {
    BackfillWindow(from: start, to: Timestamp(microseconds: start.microseconds + 1_000_000))
  }
}
