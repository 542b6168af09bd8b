import CSimdjson
import Glibc
import QuakeModel

/// Maps the members of one format's `properties` to columns.
///
/// A feed writes the same names in the same order for each event, so the table remembers the entry at each
/// index of the last event and compares with it first.
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
    /// The event's identifier: stored unchanged as `net_code`, and with the dialect's prefix as `code`.
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
  /// The last entry at each index of the members.
  private var expected: [Int] = []

  init(_ entries: [Entry]) {
    self.entries = entries
  }

  private static func matches(_ entry: Entry, _ member: csj_member) -> Bool {
    entry.name.utf8CodeUnitCount == member.key_count
      && memcmp(entry.name.utf8Start, member.key, member.key_count) == 0
  }

  /// The entry of the member at index `place`, or nil if the member is ignored.
  mutating func entry(for member: csj_member, at place: Int) -> Entry? {
    if place < expected.count, expected[place] >= 0 {
      let entry = entries[expected[place]]
      if Self.matches(entry, member) { return entry }
    }
    guard let index = entries.firstIndex(where: { Self.matches($0, member) }) else { return nil }
    // Limited, because a malicious feed could have any number of members.
    if place < 128 {
      while expected.count <= place { expected.append(-1) }
      expected[place] = index
    }
    return entries[index]
  }
}
