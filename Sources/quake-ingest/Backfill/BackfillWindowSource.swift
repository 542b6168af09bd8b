import QuakeImport
import QuakeModel
import QuakeWorker

/// The records of a service's answer, of which those outside the window are rejected: an event of another
/// time shows that the answer is damaged, for example if all times have become 1970.
struct BackfillWindowSource<Base: ImportSource>: ImportSource {
  private var base: Base
  private let window: BackfillWindow
  private var number = 0

  /// How far outside an event may be, in microseconds: services round times.
  private static var tolerance: Int64 { 1_000_000 }

  init(_ base: Base, window: BackfillWindow) {
    self.base = base
    self.window = window
  }

  mutating func next(into record: inout QuakeRecord) throws -> ImportItem? {
    guard let item = try base.next(into: &record) else { return nil }
    number += 1
    guard case .record = item, let time = record.timestamp(.time),
      time.microseconds < window.start.microseconds - Self.tolerance
        || time.microseconds > window.end.microseconds + Self.tolerance
    else { return item }
    let code = record.text(.code) ?? ""
    return .reject(
      ImportReject(
        place: "record \(number)",
        reason: "The time \(time) is not within the requested window.", raw: code))
  }

  var columns: [QuakeColumn] { base.columns }
  var format: String { base.format }
  var generated: Timestamp? { base.generated }
  var bytesRead: Int64 { base.bytesRead }
}
