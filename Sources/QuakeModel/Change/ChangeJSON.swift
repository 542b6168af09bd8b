internal import Basics

extension JSONWriter {
  /// Writes an event as an object with a member for each column, null where it has no value.
  ///
  /// - Parameter drain: Called between values when many bytes have been written.
  public mutating func quake(
    _ record: EventRecord, drain: Drain
  ) rethrows {
    guard record.textSize > Self.longTexts else {
      event(record)
      if count >= Self.drainedSize { try drain(&self) }
      return
    }
    beginObject()
    for column in EventColumn.allCases {
      key(column.key)
      write(column, of: record)
      if count >= Self.drainedSize { try drain(&self) }
    }
    endObject()
  }

  /// Writes the value a record has in a column.
  public mutating func value(of column: EventColumn, in record: EventRecord) {
    write(column, of: record)
  }

  /// Inlined, because it is called for each column of a million events.
  @inline(__always)
  private mutating func write(_ column: EventColumn, of record: EventRecord) {
    guard record.has(column) else { return null() }
    switch column.kind {
    case .text: record.withUTF8(column) { if let text = $0 { string(utf8: text) } }
    case .float8: double(record.double(column) ?? .nan)
    case .int4, .int2: integer(record.integer(column) ?? 0)
    case .timestamp: if let value = record.timestamp(column) { timestamp(value) }
    case .bool: bool(record.bool(column) ?? false)
    }
  }

  /// Writes a change in its public form: token, position, op, code, changed, old, new, transaction.
  ///
  /// - Parameter drain: Called between values when many bytes have been written.
  public mutating func change(_ change: Change, drain: Drain) rethrows {
    let text = text(of: change.transaction)
    beginValue()
    part(text.beginning)
    integer(Int(change.position))
    try members(change.op, change.code, change.changed, change.old, change.new, drain)
    part(text.end)
    endObject()
  }

  private mutating func text(of transaction: ChangeTransaction) -> TransactionText {
    if let transactionText, transactionText.transaction === transaction { return transactionText }
    let text = TransactionText(transaction, hidesSessions: hidesSessions)
    transactionText = text
    return text
  }

  private mutating func members(
    _ op: ChangeOperation, _ code: String?, _ changed: [String], _ old: EventRecord?,
    _ new: EventRecord?, _ drain: Drain
  ) rethrows {
    switch op {
    case .insert: members("\"op\":\"insert\",\"code\":")
    case .update: members("\"op\":\"update\",\"code\":")
    case .delete: members("\"op\":\"delete\",\"code\":")
    case .truncate: members("\"op\":\"truncate\",\"code\":")
    }
    string(code)
    if changed.isEmpty {
      members("\"changed\":[],\"old\":")
    } else {
      member("changed", changed)
      key("old")
    }
    if let old { try quake(old, drain: drain) } else { null() }
    key("new")
    if let new { try quake(new, drain: drain) } else { null() }
  }

  /// Writes a version of an event in the form of a change; `position` is null if it is no longer known.
  ///
  /// - Parameter drain: Called between values when many bytes have been written.
  public mutating func version(_ version: EventVersion, drain: Drain) rethrows {
    try object { json in
      json.member("token", version.transaction.token.description)
      json.member("position", version.position)
      try json.members(
        version.op, version.code, version.changed, version.old, version.new, drain)
      json.key("transaction")
      json.transaction(version.transaction)
    }
  }

  /// Writes a difference of an event: op, code, changed, old, new.
  ///
  /// - Parameter drain: Called between values when many bytes have been written.
  public mutating func difference(
    _ difference: EventDifference, drain: Drain
  ) rethrows {
    try object { json in
      try json.members(
        difference.op, difference.code, difference.changed, difference.old, difference.new, drain)
    }
  }

  /// Writes the beginning of a transaction: token, author, context, application, user, pid, client, at,
  /// import, inserted, updated, deleted, truncated, and `changes` up to its `[`. Its changes may
  /// follow, written by `change(within:)`, and then `endTransaction`.
  public mutating func beginTransaction(_ transaction: ChangeTransaction) {
    beginObject()
    member("token", transaction.token.description)
    members(of: transaction)
    member("inserted", transaction.counts.inserted)
    member("updated", transaction.counts.updated)
    member("deleted", transaction.counts.deleted)
    member("truncated", transaction.counts.truncated)
    beginArray("changes")
  }

  /// Writes a change within its transaction: position, op, code, changed, old, new.
  ///
  /// - Parameter drain: Called between values when many bytes have been written.
  public mutating func change(within change: Change, drain: Drain) rethrows {
    try object { json in
      json.member("position", change.position)
      try json.members(change.op, change.code, change.changed, change.old, change.new, drain)
    }
  }

  /// Writes the end of a transaction.
  public mutating func endTransaction() {
    endArray()
    endObject()
  }

  /// Writes an event of a snapshot in the form of a change: op is `snapshot`, there is no transaction.
  ///
  /// - Parameter drain: Called between values when many bytes have been written.
  public mutating func snapshot(
    _ record: EventRecord, token: ChangeToken, position: Int64, drain: Drain
  ) rethrows {
    try mark("snapshot", token: token, position: position, new: record, drain: drain) { _ in }
  }

  /// Writes, in the form of a change, that all changes up to a token have been delivered, except those that a
  /// filter rejected: op is `heartbeat`, `at` is the time.
  public mutating func heartbeat(_ token: ChangeToken, at time: Timestamp) {
    mark("heartbeat", token: token, drain: { _ in }) { json in
      json.member("at", time)
    }
  }

  /// Writes, in the form of a change, that the history cannot be followed from the cursor, and that a
  /// snapshot comes next: op is `reset`, `reason` the cause, `after` the invalid token, `token` that of the
  /// snapshot. `lost` follows if it is not empty: transactions that were delivered and are not in the history any more.
  /// With `error`, its message, detail and hint follow.
  public mutating func reset(
    _ reason: String, after: ChangeToken, lost: [ChangeToken] = [], token: ChangeToken,
    error: StoreError? = nil
  ) {
    mark("reset", token: token, drain: { _ in }) { json in
      json.member("reason", reason)
      json.member("after", after.description)
      if !lost.isEmpty { json.member("lost", lost.map(\.description)) }
      guard let error else { return }
      json.member("message", error.message)
      json.member("detail", error.detail)
      json.member("hint", error.hint)
    }
  }

  /// Objects between changes have the members of a change, so that a reader needs only one form.
  private mutating func mark(
    _ op: String, token: ChangeToken, position: Int64? = nil, new: EventRecord? = nil,
    drain: Drain, more: (inout JSONWriter) -> Void
  ) rethrows {
    try object { json in
      json.member("token", token.description)
      json.member("position", position)
      json.member("op", op)
      json.key("code")
      if let new { json.value(of: .code, in: new) } else { json.null() }
      json.members("\"changed\":[],\"old\":null,\"new\":")
      if let new { try json.quake(new, drain: drain) } else { json.null() }
      json.null("transaction")
      more(&json)
    }
  }

  mutating func transaction(_ transaction: ChangeTransaction) {
    object { $0.members(of: transaction) }
  }

  private mutating func members(of transaction: ChangeTransaction) {
    member("author", transaction.author)
    member("context", transaction.context)
    member("application", transaction.application)
    // A change that a server has sent has no role and no process: see `hidesSessions`.
    let isHidden = hidesSessions || transaction.user.isEmpty
    member("user", isHidden ? nil : transaction.user)
    member("pid", isHidden ? nil : transaction.processID)
    member("client", isHidden ? nil : transaction.client)
    member("at", transaction.at)
    member("import", isHidden ? nil : transaction.importID)
  }
}

extension JSONWriter {
  /// Writes an event, however long it gets.
  public mutating func quake(_ record: EventRecord) { quake(record) { _ in } }

  /// Writes a change, however long it gets.
  public mutating func change(_ change: Change) { self.change(change) { _ in } }

  /// Writes an event of a snapshot, however long it gets.
  public mutating func snapshot(_ record: EventRecord, token: ChangeToken, position: Int64) {
    snapshot(record, token: token, position: position) { _ in }
  }
}

extension JSONWriter {
  /// Events with more bytes of text are written member by member, so that the buffer can be drained in
  /// between.
  static let longTexts = 8 * 1024

  /// Writes an event at once: one check of the buffer's size, and keys that are ready to be copied.
  mutating func event(_ record: EventRecord) {
    beginValue()
    let keys = EncodedKey.all
    out.write(atMost: EncodedKey.capacity(textSize: record.textSize)) { place in
      record.withContents { values, present, bytes in
        var end = place
        keys.withUnsafeBufferPointer { keys in
          for index in keys.indices {
            keys[index].put(&end)
            if present & 1 << UInt64(index) == 0 {
              putNull(&end)
            } else {
              putValue(values[index], keys[index].kind, bytes, &end)
            }
          }
        }
        put(0x7D, &end)
        return end
      }
    }
  }
}

/// The key of a column in JSON, with the comma before it and the colon after it.
private struct EncodedKey {
  /// The text, padded; copying three words is quicker than copying a number of bytes.
  private let words: (UInt64, UInt64, UInt64)
  private let length: Int
  let kind: EventColumn.Kind

  static let all = EventColumn.allCases.map { EncodedKey($0) }
  private static let size = 24
  /// The most bytes of a value that is not text, with what a text needs beside its bytes.
  private static let valueSize = max(DecimalText.longest, Timestamp.longestText) + 16

  /// The most bytes of an event with texts of this size.
  static func capacity(textSize: Int) -> Int {
    EventColumn.allCases.count * (size + valueSize) + EscapedText.capacity(for: textSize)
  }

  private init(_ column: EventColumn) {
    // The first one begins the object.
    var text = Array("\(column.rawValue == 0 ? "{" : ",")\"\(column.name)\":".utf8)
    length = text.count
    precondition(length <= Self.size, "the name of column \(column.name) is too long")
    text += Array(repeating: 0, count: Self.size - length)
    func word(_ index: Int) -> UInt64 {
      text.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) }
    }
    words = (word(0), word(1), word(2))
    kind = column.kind
  }

  @inline(__always)
  func put(_ end: inout UnsafeMutablePointer<UInt8>) {
    let place = UnsafeMutableRawPointer(end)
    place.storeBytes(of: words.0, as: UInt64.self)
    place.storeBytes(of: words.1, toByteOffset: 8, as: UInt64.self)
    place.storeBytes(of: words.2, toByteOffset: 16, as: UInt64.self)
    end += length
  }
}

@inline(__always)
private func putNull(_ end: inout UnsafeMutablePointer<UInt8>) {
  // The bytes of "null".
  UnsafeMutableRawPointer(end).storeBytes(of: UInt32(littleEndian: 0x6C6C_756E), as: UInt32.self)
  end += 4
}

/// Writes the value of a column from its word in a record.
@inline(__always)
private func putValue(
  _ value: UInt64, _ kind: EventColumn.Kind, _ bytes: UnsafeRawBufferPointer,
  _ end: inout UnsafeMutablePointer<UInt8>
) {
  switch kind {
  case .text:
    put(0x22, &end)
    let start = Int(value >> 32)
    EscapedText.put(
      UnsafeRawBufferPointer(rebasing: bytes[start..<(start + Int(value & 0xFFFF_FFFF))]), &end)
    put(0x22, &end)
  case .float8:
    let number = Double(bitPattern: value)
    if number.isFinite { end = DecimalText.put(number, end) } else { putNull(&end) }
  case .int4, .int2:
    end = DecimalText.put(Int(Int64(bitPattern: value)), end)
  case .timestamp:
    put(0x22, &end)
    end = Timestamp(microseconds: Int64(bitPattern: value)).put(end)
    put(0x22, &end)
  case .bool:
    for byte in (value != 0 ? "true" : "false").utf8 { put(byte, &end) }
  }
}
