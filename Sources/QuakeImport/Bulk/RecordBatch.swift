internal import Glibc
internal import Postgres
internal import QuakeModel

/// Some thousand records of a source, encoded for COPY in memory: the last record of each code, in the order
/// of the codes.
///
/// It is used by one thread at a time: one thread fills it and hands it over to another.
final class RecordBatch {
  /// Where a record's values and its code are.
  private struct Row {
    /// The code's first eight bytes, which decide most comparisons.
    var prefix: UInt64
    var code: Range<Int>
    var values: Range<Int>
    /// The number of the record within the batch, from 1.
    var number: Int64
    /// Whether the record says that its event was deleted.
    var isDeletion: Bool
    /// Whether the event is stored with the same contents.
    var isStored = false
  }

  /// The size of a record besides its values: its row, its code, and the hashes of its ids.
  private static let bytesPerRecord = 128

  private let columns: [EventColumn]
  private var values: CopyValues
  private var codes: [UInt8] = []
  private var rows: [Row] = []
  /// The number of records read, with those rejected.
  private(set) var seen: Int64 = 0
  /// The number of records whose code occurs again later in the batch.
  private(set) var duplicates: Int64 = 0
  /// The rejects, with the number of the record within the batch, from 1.
  private(set) var rejects: [(record: Int64, reject: ImportReject, isKept: Bool)] = []
  /// The ids that events have besides their code, and where the record's values begin.
  private var otherIDs: [(claim: IDClaim, record: Int)] = []
  /// Whether a record says that its event was deleted.
  private(set) var hasDeletions = false
  /// Hashes of all ids in it. Batches that share none can be merged together, or written at the same time.
  private(set) var keys: Set<UInt64> = []

  /// - Parameters:
  ///   - columns: The columns that the source can fill.
  ///   - capacity: Its size in bytes.
  init(columns: [EventColumn], capacity: Int) {
    self.columns = columns
    values = CopyValues(capacity: capacity + 64 * 1024)
  }

  /// About the size of its contents in memory.
  var bytes: Int { values.count + rows.count * Self.bytesPerRecord + rejectedBytes }
  private var rejectedBytes = 0

  /// The number of records to be written.
  var count: Int { rows.count }

  /// Fills an empty batch with at most `limit` records and about `mostBytes` bytes: the last record may
  /// exceed that.
  ///
  /// - Parameter budget: How many more rejects may be kept.
  func fill(
    from reader: inout ImportReader<some ImportSource>, limit: Int64, bytes mostBytes: Int,
    budget: inout RejectBudget
  ) throws {
    while let item = reader.item, seen < limit, bytes < mostBytes {
      seen += 1
      switch item {
      case .record: append(reader.record)
      case .reject(let reject):
        let isKept = budget.keeps(reject)
        rejects.append((seen, isKept ? reject : reject.withoutText, isKept))
        if isKept { rejectedBytes += reject.raw.utf8.count + reject.reason.utf8.count }
        rejectedBytes += 256
      }
      try reader.advance()
    }
    sort()
    different = rows.count
  }

  /// Empties it and keeps the memory.
  func removeAll() {
    values.removeAll()
    codes.removeAll(keepingCapacity: true)
    rows.removeAll(keepingCapacity: true)
    rejects.removeAll(keepingCapacity: true)
    rejectedBytes = 0
    otherIDs.removeAll(keepingCapacity: true)
    hasDeletions = false
    keys.removeAll(keepingCapacity: true)
    seen = 0
    duplicates = 0
  }

  private func append(_ record: EventRecord) {
    let start = values.count
    values.append(record, columns)
    let codeStart = codes.count
    var prefix: UInt64 = 0
    record.withUTF8(.code) { code in
      guard let code else { return }
      codes.append(contentsOf: code)
      for place in 0..<8 { prefix = prefix << 8 | UInt64(place < code.count ? code[place] : 0) }
      keys.insert(code.idKey)
    }
    let code = codeStart..<codes.count
    let isDeletion = record.isDeletion
    rows.append(
      Row(
        prefix: prefix, code: code, values: start..<values.count, number: seen,
        isDeletion: isDeletion))
    // A deletion claims no ids.
    guard !isDeletion else { return hasDeletions = true }
    record.forEachOtherID { id in
      let claim = IDClaim(
        id: String(decoding: id, as: UTF8.self),
        code: String(decoding: codes[code], as: UTF8.self))
      otherIDs.append((claim, start))
      keys.insert(id.idKey)
    }
  }

  private func sort() {
    codes.withUnsafeBytes { all in
      rows.sort { left, right in
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        let order = UnsafeRawBufferPointer(rebasing: all[left.code])
          .order(of: UnsafeRawBufferPointer(rebasing: all[right.code]))
        return order == 0 ? left.values.lowerBound < right.values.lowerBound : order < 0
      }
    }
    guard rows.count > 1 else { return }
    var last = 0
    for place in 1..<rows.count {
      if isSameEvent(rows[last], rows[place]) { duplicates += 1 } else { last += 1 }
      rows[last] = rows[place]
    }
    rows.removeLast(rows.count - 1 - last)
    guard duplicates > 0, !otherIDs.isEmpty else { return }
    let records = Set(rows.map(\.values.lowerBound))
    otherIDs.removeAll { !records.contains($0.record) }
  }

  private func isSameEvent(_ one: Row, _ other: Row) -> Bool {
    one.prefix == other.prefix && codes[one.code].elementsEqual(codes[other.code])
  }

  /// Calls `body` with the number within the batch and the values of each record that is not skipped, in the
  /// order of the codes.
  func forEachRow(_ body: (Int64, UnsafeRawBufferPointer) throws -> Void) throws {
    for row in rows where !row.isStored {
      try values.withBytes(row.values) { try body(row.number, $0) }
    }
  }

  /// The number of records that are not skipped.
  private(set) var different = 0

  /// Skips the record of an event if its values are those in a row of `result`, byte for byte; never a deletion,
  /// because an event may have its values and not be withdrawn.
  ///
  /// - Parameters:
  ///   - code: The column with the event's code.
  ///   - column: The first of the batch's columns.
  func skip(
    ifIn result: borrowing QueryResult, row: Int, code: Int, from column: Int
  ) {
    guard let place = place(of: result.bytes(row, code)), !rows[place].isDeletion else { return }
    let isStored = values.isEqual(
      rows[place].values, to: result, row: row, from: column, count: columns.count)
    guard isStored else { return }
    rows[place].isStored = true
    different -= 1
  }

  /// Hashes of the codes of records that are not skipped.
  var differentKeys: Set<UInt64> {
    var keys: Set<UInt64> = []
    codes.withUnsafeBytes { all in
      for row in rows where !row.isStored {
        keys.insert(UnsafeRawBufferPointer(rebasing: all[row.code]).idKey)
      }
    }
    return keys
  }

  /// Hashes of the ids that later batches must not share before a merge: the codes of records that are not
  /// skipped, claimed ids, and the codes of the events that claim them.
  var pendingKeys: Set<UInt64> {
    var pending = differentKeys
    for other in otherIDs {
      pending.insert(other.claim.id.idKey)
      pending.insert(other.claim.code.idKey)
    }
    return pending
  }

  /// Hashes of the codes, each with whether its record says that the event was deleted.
  var codeKeys: [(key: UInt64, isDeletion: Bool)] {
    codes.withUnsafeBytes { all in
      rows.map { (UnsafeRawBufferPointer(rebasing: all[$0.code]).idKey, $0.isDeletion) }
    }
  }

  /// The codes, sorted.
  var eventCodes: [String] { eventCodes(0..<rows.count) }

  func eventCodes(_ places: Range<Int>) -> [String] {
    rows[places].map { String(decoding: codes[$0.code], as: UTF8.self) }
  }

  /// Claims of ids that no record of the batch has as its code. An event that was deleted has no id to itself.
  var claims: [IDClaim] { otherIDs.map(\.claim).filter { !hasEvent($0.id) } }

  /// Returns the same and removes them: the caller resolves them.
  func takeClaims() -> [IDClaim] {
    defer { otherIDs.removeAll(keepingCapacity: true) }
    return claims
  }

  private func hasEvent(_ id: String) -> Bool {
    var id = id
    return id.withUTF8 { bytes in
      place(of: UnsafeRawBufferPointer(bytes)).map { !rows[$0].isDeletion } ?? false
    }
  }

  private func place(of code: UnsafeRawBufferPointer) -> Int? {
    codes.withUnsafeBytes { all in
      var low = 0
      var high = rows.count
      while low < high {
        let middle = (low + high) / 2
        let order = UnsafeRawBufferPointer(rebasing: all[rows[middle].code]).order(of: code)
        if order == 0 { return middle }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
      return nil
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Negative if it comes before `other` byte by byte, 0 if it is the same.
  fileprivate func order(of other: UnsafeRawBufferPointer) -> Int {
    let shared = Swift.min(count, other.count)
    if shared > 0, let left = baseAddress, let right = other.baseAddress {
      let order = memcmp(left, right, shared)
      if order != 0 { return Int(order) }
    }
    return count - other.count
  }
}
