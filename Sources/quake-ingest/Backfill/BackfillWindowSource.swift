import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeWorker

/// The records of a service's answer, of which those outside the window are rejected: an event of another
/// time shows that the answer is damaged, for example if all times have become 1970. Those outside the region are
/// left out: a query may ask for more than the region.
struct BackfillWindowSource<Base: ImportSource>: ImportSource {
  private var base: Base
  private let window: BackfillWindow
  private let region: EventService.Region
  private let received: Counter

  /// The number of records of an answer, also of those that are left out.
  final class Counter {
    var records: Int64 = 0
  }

  /// How far outside an event may be, in microseconds: services round times.
  private static var tolerance: Int64 { 1_000_000 }

  init(
    _ base: Base, window: BackfillWindow, region: EventService.Region, counting received: Counter
  ) {
    self.base = base
    self.window = window
    self.region = region
    self.received = received
  }

  mutating func next(into record: inout QuakeRecord) throws -> ImportItem? {
    var next = try base.next(into: &record)
    received.records += next == nil ? 0 : 1
    while case .record = next, !region.contains(record) {
      next = try base.next(into: &record)
      received.records += next == nil ? 0 : 1
    }
    guard let item = next else { return nil }
    guard case .record = item, let time = record.timestamp(.time),
      time.microseconds < window.start.microseconds - Self.tolerance
        || time.microseconds > window.end.microseconds + Self.tolerance
    else { return item }
    let code = record.text(.code) ?? ""
    return .reject(
      ImportReject(
        place: "record \(received.records)",
        reason: "The time \(time) is not within the requested window.", raw: code))
  }

  var columns: [QuakeColumn] { base.columns }
  var inferredColumns: Set<QuakeColumn> { base.inferredColumns }
  var format: String { base.format }
  var generated: Timestamp? { base.generated }
  var bytesRead: Int64 { base.bytesRead }
}
