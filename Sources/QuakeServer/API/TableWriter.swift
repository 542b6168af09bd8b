import QuakeModel

/// Writes the document of `/v1/table`: a line for each event.
struct TableWriter {
  private let columns: [QuakeColumn]
  private let document = JSONDocument()

  /// - Parameters:
  ///   - token: The newest transaction that the events contain.
  ///   - time: When it was committed.
  init(_ columns: [QuakeColumn], token: ChangeToken, time: Timestamp) {
    self.columns = columns
    document.json.beginObject()
    document.json.key("token")
    document.json.string("\(token)")
    document.json.key("time")
    document.json.milliseconds(time)
    document.json.key("columns")
    document.json.array { json in
      for column in columns { json.string(column.name) }
    }
    document.json.key("rows")
    document.json.beginArray()
    document.json.newline()
  }

  private var isEmpty = true

  /// Adds a row.
  mutating func add(_ event: QuakeRecord) throws {
    if !isEmpty { document.json.commaAndNewline() }
    isEmpty = false
    document.json.beginArray()
    for column in columns {
      if column.kind == .timestamp {
        document.json.milliseconds(event.timestamp(column))
      } else {
        document.json.value(of: column, in: event)
      }
    }
    document.json.endArray()
    try document.drainIfLarge()
  }

  /// The document of all rows.
  func finish() throws -> Document {
    document.json.newline()
    document.json.endArray()
    document.json.endObject()
    return try document.finish()
  }
}

extension JSONWriter {
  /// Writes milliseconds since 1970, with decimals if the instant has microseconds; null if there is none.
  fileprivate mutating func milliseconds(_ time: Timestamp?) {
    guard let microseconds = time?.microseconds else { return null() }
    if microseconds % 1000 == 0 {
      integer(Int(microseconds / 1000))
    } else {
      double(Double(microseconds) / 1000)
    }
  }
}
