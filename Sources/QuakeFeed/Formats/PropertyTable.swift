import CSimdjson
import Glibc
import QuakeModel

/// The members that one format's `properties` may have, and what each becomes.
///
/// A feed writes the same names in the same order for each event: the table remembers what stood at
/// each place last time and compares with that first.
struct PropertyTable {
  /// How a member's value is read.
  enum Reading {
    case text
    case number
    case integer
    /// Milliseconds since 1970.
    case milliseconds
    /// A date and time as a string.
    case iso8601
    /// The event's identifier: `net_code` as it is, and `code` with the dialect's prefix.
    case identifier
    /// An EMSC event type, translated.
    case emscEventType
  }

  struct Entry {
    let name: StaticString
    let column: QuakeColumn
    let reading: Reading

    init(_ name: StaticString, _ column: QuakeColumn, _ reading: Reading) {
      self.name = name
      self.column = column
      self.reading = reading
    }
  }

  private let entries: [Entry]
  /// For each place among the members, which entry stood there last.
  private var expected: [Int] = []

  init(_ entries: [Entry]) {
    self.entries = entries
  }

  private static func matches(_ entry: Entry, _ member: csj_member) -> Bool {
    entry.name.utf8CodeUnitCount == member.key_count
      && memcmp(entry.name.utf8Start, member.key, member.key_count) == 0
  }

  /// The entry of the member that stands at `place`, or nil when it means nothing to us.
  mutating func entry(for member: csj_member, at place: Int) -> Entry? {
    if place < expected.count, expected[place] >= 0 {
      let entry = entries[expected[place]]
      if Self.matches(entry, member) { return entry }
    }
    guard let index = entries.firstIndex(where: { Self.matches($0, member) }) else { return nil }
    // A hostile feed could have any number of members; what is worth remembering is few.
    if place < 128 {
      while expected.count <= place { expected.append(-1) }
      expected[place] = index
    }
    return entries[index]
  }
}
