internal import QuakeModel

/// How many rejects of one import are kept in `quake.import_reject`: a feed of nothing else must not fill
/// the database. All are counted in `quake.import`.
public struct RejectBudget: Sendable {
  /// The most that are kept.
  public static let mostKept: Int64 = 1000
  /// The most bytes that they may have together: places, reasons, and records as they came.
  public static let mostBytes: Int64 = 4 << 20

  private var count: Int64
  private var bytes: Int64

  /// What is left after those that the report says are kept.
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

  /// Says in a report how many are kept.
  func note(in report: inout ImportReport) {
    report.rejectsKept = count
    report.rejectBytesKept = bytes
  }
}
