package import QuakeModel

/// Applies the rules for the records of feeds to a record that a program has made.
package enum RecordCheck {
  /// Gives the record's values the form that those of feeds have. Returns why the record cannot be imported, as
  /// a sentence; nil: it can.
  package static func normalise(_ record: inout QuakeRecord) -> (text: String, isOfTime: Bool)? {
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
        case .timestamp: if let time = record.timestamp(column) { checked.set(column, time) }
        case .bool: if let value = record.bool(column) { checked.set(column, value) }
        }
      }
      try FieldCheck.checkComplete(checked, strict: false)
      record = checked
      return nil
    } catch {
      return (error.reason, error.column == .time || error.column == .updated)
    }
  }
}
