internal import CommandLine
public import QuakeModel

extension ImportReport {
  /// The counts of records by result, for people.
  public var counts: String {
    func count(_ value: Int64) -> String { Readable.count(Int(value)) }
    return "\(count(seen)) seen: \(count(inserted)) inserted, \(count(updated)) updated, "
      + "\(count(unchanged)) unchanged, \(count(rejected)) rejected, \(count(duplicate)) duplicate"
  }

  /// Writes the counts of records by result as members of an object.
  public func writeCounts(to json: inout JSONWriter) {
    Self.write(
      [
        ("seen", seen), ("inserted", inserted), ("updated", updated), ("unchanged", unchanged),
        ("rejected", rejected), ("duplicate", duplicate),
      ], to: &json)
  }

  /// Writes the counts of events that the import did not name, or of which the store has a newer state.
  public func writeOtherCounts(to json: inout JSONWriter) {
    Self.write(
      [
        ("stale", stale), ("superseded", superseded), ("withdrawn", withdrawn),
        ("restored", restored),
      ], to: &json)
  }

  private static func write(
    _ members: [(key: StaticString, count: Int64)], to json: inout JSONWriter
  ) {
    for (key, count) in members {
      json.key(key)
      json.integer(count)
    }
  }
}
