package import QuakeModel

/// Checks a record that a program has made by the rules for the records of feeds.
package enum RecordCheck {
  /// Why the record cannot be imported, as a sentence; nil: it can.
  package static func reason(against record: QuakeRecord) -> (text: String, isOfTime: Bool)? {
    var checked = QuakeRecord()
    do throws(Rejection) {
      for column in QuakeColumn.allCases where record.has(column) {
        switch column.kind {
        case .float8:
          if let value = record.double(column) {
            try FieldCheck.set(value, column, in: &checked)
          }
        case .int4, .int2:
          if let value = record.integer(column) {
            try FieldCheck.set(integer: value, column, in: &checked)
          }
        case .text:
          try record.withUTF8(column) { (text: UnsafeRawBufferPointer?) throws(Rejection) in
            if let text { try FieldCheck.set(utf8: text, column, in: &checked) }
          }
        case .timestamp, .bool: continue
        }
      }
      try FieldCheck.checkComplete(record, strict: false)
      return nil
    } catch {
      return (error.reason, error.column == .time || error.column == .updated)
    }
  }
}
