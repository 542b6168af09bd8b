import QuakeFeed
import QuakeModel

/// Decoding alone.
enum Decoding {
  /// Decodes each event into a record, and returns their number.
  static func count(_ reader: FeedReader) throws -> Int {
    var record = QuakeRecord()
    var count = 0
    while let item = try reader.next(into: &record) {
      if item == .record, record.has(.code) { count += 1 }
    }
    return count
  }
}
