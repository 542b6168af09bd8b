import Glibc

/// Follows each event's values through an unfiltered feed: what a change calls `old` must be, byte for
/// byte, what the change before it called `new`.
struct ValueChain {
  /// The values of each event that is there, by the checksum of its code.
  private(set) var values: [UInt32: [UInt8]] = [:]
  /// What was wrong, at most 20 of them.
  private(set) var faults: [String] = []

  mutating func take(_ line: FeedLine, _ bytes: UnsafeRawBufferPointer) {
    switch line.kind {
    case .heartbeat: return
    case .truncate, .reset: values = [:]
    case .insert, .update, .delete, .snapshot:
      guard let (old, new) = Self.objects(bytes) else {
        return fault(line, "has no old and new")
      }
      if line.kind != .snapshot { check(line, old) }
      values[line.code] = new.isEmpty ? nil : Array(new)
      if new.isEmpty != (line.kind == .delete) { fault(line, "should not have that new") }
    }
  }

  private mutating func check(_ line: FeedLine, _ old: UnsafeRawBufferPointer) {
    let known = values[line.code] ?? []
    guard line.kind != .insert || known.isEmpty else {
      return fault(line, "inserts an event that is there")
    }
    guard line.kind == .insert || !known.isEmpty else {
      return fault(line, "changes an event that is not there")
    }
    let isSame =
      known.count == old.count
      && known.withUnsafeBytes { known in
        guard let left = known.baseAddress, let right = old.baseAddress else { return true }
        return memcmp(left, right, old.count) == 0
      }
    if !isSame { fault(line, "has other old values than the change before it left") }
  }

  private mutating func fault(_ line: FeedLine, _ text: String) {
    if faults.count < 20 { faults.append("\(line) \(text)") }
  }

  /// The values of `old` and `new`; empty for null. A quotation mark within a string has a backslash
  /// before it, so that these members' names are found nowhere else.
  private static func objects(
    _ line: UnsafeRawBufferPointer
  ) -> (old: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer)? {
    guard let old = place(of: ",\"old\":", in: line, from: 0),
      let new = place(of: ",\"new\":", in: line, from: old + 7),
      let after = place(of: ",\"transaction\":", in: line, from: new + 7)
    else { return nil }
    return (value(line, old + 7, new), value(line, new + 7, after))
  }

  private static func value(
    _ line: UnsafeRawBufferPointer, _ start: Int, _ end: Int
  ) -> UnsafeRawBufferPointer {
    let value = UnsafeRawBufferPointer(rebasing: line[start..<end])
    return value.first == 0x7B ? value : UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private static func place(
    of text: StaticString, in line: UnsafeRawBufferPointer, from start: Int
  ) -> Int? {
    guard let base = line.baseAddress else { return nil }
    // After the first comma and mark, each name begins with another letter.
    let letter = Int32(text.utf8Start[2])
    var place = start + 2
    while place < line.count, let found = memchr(base + place, letter, line.count - place) {
      let candidate = UnsafeRawPointer(found) - base - 2
      if candidate + text.utf8CodeUnitCount <= line.count,
        memcmp(base + candidate, text.utf8Start, text.utf8CodeUnitCount) == 0
      {
        return candidate
      }
      place = candidate + 3
    }
    return nil
  }
}
