extension JSONWriter {
  /// Writes an event as an object with a member for each column, null where it has no value.
  ///
  /// - Parameter drain: Called between values when many bytes have been written.
  public mutating func quake(
    _ record: QuakeRecord, drain: Drain
  ) rethrows {
    guard record.textSize > Self.longTexts else {
      event(record)
      if count >= Self.drainedSize { try drain(&self) }
      return
    }
    beginObject()
    for column in QuakeColumn.allCases {
      key(column.key)
      put(column, of: record)
      if count >= Self.drainedSize { try drain(&self) }
    }
    endObject()
  }

  /// Writes the value a record has in a column.
  public mutating func value(of column: QuakeColumn, in record: QuakeRecord) {
    put(column, of: record)
  }

  /// Inlined, because it is called for each column of a million events.
  @inline(__always)
  private mutating func put(_ column: QuakeColumn, of record: QuakeRecord) {
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
    let text = TransactionText(transaction)
    transactionText = text
    return text
  }

  private mutating func members(
    _ op: ChangeOperation, _ code: String?, _ changed: [String], _ old: QuakeRecord?,
    _ new: QuakeRecord?, _ drain: Drain
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
      key("changed")
      array { array in
        for name in changed { array.string(name) }
      }
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
      json.key("token")
      json.string(version.transaction.token.description)
      json.key("position")
      json.integer(version.position)
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
    key("token")
    string(transaction.token.description)
    members(of: transaction)
    for (name, count) in [
      ("inserted", transaction.counts.inserted), ("updated", transaction.counts.updated),
      ("deleted", transaction.counts.deleted), ("truncated", transaction.counts.truncated),
    ] as [(StaticString, Int64)] {
      key(name)
      integer(Int(count))
    }
    key("changes")
    beginArray()
  }

  /// Writes a change within its transaction: position, op, code, changed, old, new.
  ///
  /// - Parameter drain: Called between values when many bytes have been written.
  public mutating func change(within change: Change, drain: Drain) rethrows {
    try object { json in
      json.key("position")
      json.integer(Int(change.position))
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
    _ record: QuakeRecord, token: ChangeToken, position: Int64, drain: Drain
  ) rethrows {
    try mark("snapshot", token: token, position: position, new: record, drain: drain) { _ in }
  }

  /// Writes, in the form of a change, that all changes up to a token have been delivered, except those that a
  /// filter rejected: op is `heartbeat`, `at` is the time.
  public mutating func heartbeat(_ token: ChangeToken, at time: Timestamp) {
    mark("heartbeat", token: token, drain: { _ in }) { json in
      json.key("at")
      json.timestamp(time)
    }
  }

  /// Writes, in the form of a change, that the history cannot be followed from the cursor, and that a
  /// snapshot comes next: op is `reset`, `reason` the cause, `after` the invalid token, `token` that of the
  /// snapshot. With `error`, its message, detail and hint follow.
  public mutating func reset(
    _ reason: String, after lost: ChangeToken, token: ChangeToken, error: StoreError? = nil
  ) {
    mark("reset", token: token, drain: { _ in }) { json in
      json.key("reason")
      json.string(reason)
      json.key("after")
      json.string(lost.description)
      guard let error else { return }
      json.key("message")
      json.string(error.message)
      json.key("detail")
      json.string(error.detail)
      json.key("hint")
      json.string(error.hint)
    }
  }

  /// Objects between changes have the members of a change, so that a reader needs only one form.
  private mutating func mark(
    _ op: String, token: ChangeToken, position: Int64? = nil, new: QuakeRecord? = nil,
    drain: Drain, more: (inout JSONWriter) -> Void
  ) rethrows {
    try object { json in
      json.key("token")
      json.string(token.description)
      json.key("position")
      json.integer(position)
      json.key("op")
      json.string(op)
      json.key("code")
      if let new { json.value(of: .code, in: new) } else { json.null() }
      json.members("\"changed\":[],\"old\":null,\"new\":")
      if let new { try json.quake(new, drain: drain) } else { json.null() }
      json.key("transaction")
      json.null()
      more(&json)
    }
  }

  mutating func transaction(_ transaction: ChangeTransaction) {
    object { $0.members(of: transaction) }
  }

  private mutating func members(of transaction: ChangeTransaction) {
    key("author")
    string(transaction.author)
    key("context")
    string(transaction.context)
    key("application")
    string(transaction.application)
    key("user")
    string(transaction.user)
    key("pid")
    integer(transaction.processID)
    key("client")
    string(transaction.client)
    key("at")
    timestamp(transaction.at)
    key("import")
    if let id = transaction.importID { integer(Int(id)) } else { null() }
  }
}

extension JSONWriter {
  /// Writes an event, however long it gets.
  public mutating func quake(_ record: QuakeRecord) { quake(record) { _ in } }

  /// Writes a change, however long it gets.
  public mutating func change(_ change: Change) { self.change(change) { _ in } }

  /// Writes a change within its transaction, however long it gets.
  public mutating func change(within change: Change) { self.change(within: change) { _ in } }

  /// Writes a version, however long it gets.
  public mutating func version(_ version: EventVersion) { self.version(version) { _ in } }

  /// Writes a difference, however long it gets.
  public mutating func difference(_ difference: EventDifference) {
    self.difference(difference) { _ in }
  }

  /// Writes an event of a snapshot, however long it gets.
  public mutating func snapshot(_ record: QuakeRecord, token: ChangeToken, position: Int64) {
    snapshot(record, token: token, position: position) { _ in }
  }
}
