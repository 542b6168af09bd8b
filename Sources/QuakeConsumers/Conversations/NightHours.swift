internal import Glibc
package import QuakeModel

/// A part of each day by the clock of a place, such as 22:00-07:00 in Europe/Athens.
package struct NightHours: Sendable {
  private let begin: Int
  private let end: Int
  private let zone: TimeZoneFile

  /// - Parameters:
  ///   - text: `22:00-07:00`.
  ///   - zone: The clock.
  /// - Returns: nil if the text has another form, or names no time at all.
  package init?(_ text: String, in zone: TimeZoneFile) {
    let ends = text.split(separator: "-", omittingEmptySubsequences: false)
      .map { Self.minute(String($0)) }
    guard ends.count == 2, let begin = ends[0], let end = ends[1], begin != end else { return nil }
    self.begin = begin
    self.end = end
    self.zone = zone
  }

  private static func minute(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2,
      parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
    else { return nil }
    return hour * 60 + minute
  }

  /// Whether it is night at a moment. The beginning is, the end is not.
  package func contains(_ moment: Timestamp) -> Bool {
    var second = moment.microseconds / 1_000_000
    if moment.microseconds % 1_000_000 < 0 { second -= 1 }
    let local = (second + Int64(zone.offset(at: second))) % 86_400
    let minute = Int((local + 86_400) % 86_400 / 60)
    return begin < end
      ? (begin..<end).contains(minute) : minute >= begin || minute < end
  }
}

/// How far the clocks of a place are ahead of UTC, from the system's database of time zones.
///
/// The C library knows one zone for each process, and a process may have consumers in several.
package struct TimeZoneFile: Sendable {
  /// When the offset changes, in seconds since 1970, in ascending order.
  private let changes: [Int64]
  /// The offset after each change, in seconds.
  private let offsets: [Int]
  /// The offset before the first change.
  private let first: Int

  /// UTC.
  package static let utc = TimeZoneFile(changes: [], offsets: [], first: 0)

  private init(changes: [Int64], offsets: [Int], first: Int) {
    self.changes = changes
    self.offsets = offsets
    self.first = first
  }

  /// The zone of a name such as `Europe/Athens`; nil if the system does not have it.
  package init?(named name: String) {
    guard name != "UTC" else {
      self = .utc
      return
    }
    let isPlain = name.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2F, 0x5F: true
      default: false
      }
    }
    guard isPlain, !name.isEmpty, !name.hasPrefix("/"), name.utf8.count < 100,
      let file = fopen("/usr/share/zoneinfo/" + name, "re")
    else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: Self.largest)
    let count = fread(&bytes, 1, bytes.count, file)
    guard ferror(file) == 0, count < Self.largest else { return nil }
    self.init(tzif: Array(bytes[..<count]))
  }

  /// The largest file; those of the database have less than 4 KiB.
  private static let largest = 1 << 16

  /// Reads the form of RFC 8536, of which only the second part, with numbers of 64 bits, counts.
  ///
  /// After the last change, which is in 2037 in the files of Debian, the last offset stays.
  init?(tzif bytes: [UInt8]) {
    func number(_ place: Int, _ size: Int) -> Int64 {
      let value = bytes[place..<place + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return size == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value)
    }
    /// The numbers of the header at a place: isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt.
    func counts(_ place: Int) -> [Int]? {
      guard place + 44 <= bytes.count, bytes[place..<place + 4].elementsEqual("TZif".utf8),
        bytes[place + 4] >= UInt8(ascii: "2")
      else { return nil }
      let counts = (0..<6).map { Int(number(place + 20 + 4 * $0, 4)) }
      return counts.allSatisfy({ (0...Self.largest).contains($0) }) ? counts : nil
    }
    guard let old = counts(0) else { return nil }
    let place = 44 + old[3] * 5 + old[4] * 6 + old[5] + old[2] * 8 + old[1] + old[0]
    guard let new = counts(place) else { return nil }
    let (times, types) = (new[3], new[4])
    let kinds = place + 44 + 9 * times
    guard types > 0, kinds + types * 6 <= bytes.count else { return nil }
    let offsetOfType = (0..<types).map { Int(number(kinds + 6 * $0, 4)) }
    changes = (0..<times).map { number(place + 44 + 8 * $0, 8) }
    let typeOfChange = (0..<times).map { Int(bytes[place + 44 + 8 * times + $0]) }
    guard typeOfChange.allSatisfy({ $0 < types }), zip(changes, changes.dropFirst()).allSatisfy(<)
    else { return nil }
    offsets = typeOfChange.map { offsetOfType[$0] }
    first = offsetOfType[0]
  }

  /// How many seconds the clocks are ahead of UTC.
  func offset(at second: Int64) -> Int {
    // The first change after it.
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      if changes[middle] <= second { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? first : offsets[low - 1]
  }
}
