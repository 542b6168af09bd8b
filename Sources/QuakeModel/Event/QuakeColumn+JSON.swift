extension JSONWriter {
  /// Writes an event as an object with a member for each of these columns, null where it has no value.
  ///
  /// - Parameter drain: Called between values when many bytes have been written.
  public mutating func quake(
    _ record: QuakeRecord, columns: [QuakeColumn], others: [String] = [], drain: Drain
  ) rethrows {
    beginObject()
    for column in columns {
      key(column.key)
      value(of: column, in: record)
      if count >= Self.drainedSize { try drain(&self) }
    }
    if !others.isEmpty {
      key("others")
      array { json in for other in others { json.string(other) } }
    }
    endObject()
  }
}
