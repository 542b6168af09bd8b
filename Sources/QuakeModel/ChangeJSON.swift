extension JSONWriter {
  /// Writes an event as an object with a member for each column, null where it has no value.
  public mutating func quake(_ record: QuakeRecord) {
    object { json in
      for column in QuakeColumn.allCases {
        json.key(column.key)
        json.value(of: column, in: record)
      }
    }
  }

  /// Writes the value a record has in a column.
  public mutating func value(of column: QuakeColumn, in record: QuakeRecord) {
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
  public mutating func change(_ change: Change) {
    object { json in
      json.key("token")
      json.string(change.transaction.token.description)
      json.key("position")
      json.integer(Int(change.position))
      json.key("op")
      json.string(change.op.rawValue)
      json.key("code")
      json.string(change.code)
      json.key("changed")
      json.array { array in
        for name in change.changed { array.string(name) }
      }
      json.key("old")
      if let old = change.old { json.quake(old) } else { json.null() }
      json.key("new")
      if let new = change.new { json.quake(new) } else { json.null() }
      json.key("transaction")
      json.transaction(change.transaction)
    }
  }

  /// Writes an event of a snapshot in the form of a change: op is `snapshot`, there is no transaction.
  public mutating func snapshot(_ record: QuakeRecord, token: ChangeToken, position: Int64) {
    mark("snapshot", token: token, position: position, new: record) { _ in }
  }

  /// Writes, in the form of a change, that everything up to a token has been handed over, whatever of
  /// it a filter let through: op is `heartbeat`, `at` is the time.
  public mutating func heartbeat(_ token: ChangeToken, at time: Timestamp) {
    mark("heartbeat", token: token) { json in
      json.key("at")
      json.timestamp(time)
    }
  }

  /// Writes, in the form of a change, that the history cannot be followed any further and a snapshot
  /// comes next: op is `reset`, `reason` says why, `after` is the token that is of no use any more,
  /// `token` that of the snapshot.
  public mutating func reset(
    _ reason: String, after lost: ChangeToken, token: ChangeToken
  ) {
    mark("reset", token: token) { json in
      json.key("reason")
      json.string(reason)
      json.key("after")
      json.string(lost.description)
    }
  }

  /// What stands between changes has the members of a change, so that a reader needs no second form.
  private mutating func mark(
    _ op: String, token: ChangeToken, position: Int64? = nil, new: QuakeRecord? = nil,
    more: (inout JSONWriter) -> Void
  ) {
    object { json in
      json.key("token")
      json.string(token.description)
      json.key("position")
      if let position { json.integer(Int(position)) } else { json.null() }
      json.key("op")
      json.string(op)
      json.key("code")
      if let new { json.value(of: .code, in: new) } else { json.null() }
      json.key("changed")
      json.array { _ in }
      json.key("old")
      json.null()
      json.key("new")
      if let new { json.quake(new) } else { json.null() }
      json.key("transaction")
      json.null()
      more(&json)
    }
  }

  private mutating func transaction(_ transaction: ChangeTransaction) {
    object { json in
      json.key("author")
      json.string(transaction.author)
      json.key("context")
      json.string(transaction.context)
      json.key("application")
      json.string(transaction.application)
      json.key("user")
      json.string(transaction.user)
      json.key("pid")
      json.integer(transaction.processID)
      json.key("client")
      json.string(transaction.client)
      json.key("at")
      json.timestamp(transaction.at)
      json.key("import")
      if let id = transaction.importID { json.integer(Int(id)) } else { json.null() }
    }
  }
}
