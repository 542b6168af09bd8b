internal import QuakeModel

/// The limit on the rejects of one import that are kept in `quake.import_reject`, so that a bad feed does not
/// fill the database. `quake.import` counts all of them.
public struct RejectBudget: Sendable {
  /// The most that are kept.
  public static let mostKept: Int64 = 1000
  /// The most bytes of all of them: places, reasons, and the text of the records.
  public static let mostBytes: Int64 = 4 << 20

  private var count: Int64
  private var bytes: Int64

  /// The budget that the kept rejects of a report leave.
  init(after report: ImportReport) {
    count = report.rejectsKept
    bytes = report.rejectBytesKept
  }

  /// Whether a reject may be kept; if so, it is counted.
  mutating func takes(_ reject: ImportReject) -> Bool {
    let size = Int64(
      reject.place.utf8.count + reject.reason.utf8.count + reject.raw.utf8.count)
    guard count < Self.mostKept, bytes + size <= Self.mostBytes else { return false }
    count += 1
    bytes += size
    return true
  }

  /// Sets in a report how many are kept.
  func note(in report: inout ImportReport) {
    report.rejectsKept = count
    report.rejectBytesKept = bytes
  }
}
