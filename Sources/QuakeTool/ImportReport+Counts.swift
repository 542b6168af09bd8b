public import CommandLine
public import QuakeModel
public import QuakeStore

extension ImportReport {
  /// What became of the records, for people.
  public var counts: String {
    func count(_ value: Int64) -> String { Readable.count(Int(value)) }
    return "\(count(seen)) seen: \(count(inserted)) inserted, \(count(updated)) updated, "
      + "\(count(unchanged)) unchanged, \(count(rejected)) rejected, \(count(duplicate)) duplicate"
  }

  /// Writes what became of the records as members of an object.
  public func writeCounts(to json: inout JSONWriter) {
    json.key("seen")
    json.integer(Int(seen))
    json.key("inserted")
    json.integer(Int(inserted))
    json.key("updated")
    json.integer(Int(updated))
    json.key("unchanged")
    json.integer(Int(unchanged))
    json.key("rejected")
    json.integer(Int(rejected))
    json.key("duplicate")
    json.integer(Int(duplicate))
  }

  /// Writes, beside that, what became of events that it did not name, or that were known better.
  public func writeOtherCounts(to json: inout JSONWriter) {
    json.key("stale")
    json.integer(Int(stale))
    json.key("superseded")
    json.integer(Int(superseded))
    json.key("withdrawn")
    json.integer(Int(withdrawn))
    json.key("restored")
    json.integer(Int(restored))
  }
}
