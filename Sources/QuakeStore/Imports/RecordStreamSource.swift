internal import QuakeFeed
internal import QuakeImport
internal import QuakeLive
internal import QuakeModel

/// The records of an asynchronous sequence as the source of an import.
struct RecordStreamSource: ImportSource {
  let columns: [QuakeColumn]
  let format = "records"
  let generated: Timestamp?
  let mayTellGenerated = false
  private(set) var bytesRead: Int64 = 0
  private let channel: RecordChannel
  private var received: ArraySlice<QuakeRecord> = []
  private var number = 0

  init(_ channel: RecordChannel, columns: [QuakeColumn], generated: Timestamp?) {
    self.channel = channel
    self.columns = columns
    self.generated = generated
  }

  mutating func next(into record: inout QuakeRecord) throws -> ImportItem? {
    if received.isEmpty { received = try channel.receive()[...] }
    guard var next = received.popFirst() else { return nil }
    number += 1
    guard let reason = RecordCheck.normalise(&next) else {
      record = next
      return .record
    }
    return .reject(
      ImportReject(
        place: "record \(number)", reason: reason.text, raw: next.title ?? next.place ?? "",
        code: next.code, isOfTime: reason.isOfTime))
  }
}
