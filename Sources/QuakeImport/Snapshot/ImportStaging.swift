internal import Postgres
internal import QuakeModel

/// Copies the records of a source into the staging table.
struct ImportStaging {
  let connection: Connection
  let columns: [EventColumn]
  /// The most records of one batch.
  let limit: Int64

  /// Copies at most `limit` records, or more if all of these are rejects: then up to the first usable
  /// record, because an import without any is refused. Adds their ids to `ids`.
  func stage(
    from reader: inout ImportReader<some ImportSource>, before: ImportReport,
    batch: inout ImportReport, ids: inout IDClaimTracker, progress: (Int64) -> Void
  ) throws {
    var values = CopyValues()
    var budget = RejectBudget(after: before)
    try connection.copyIn(ImportStatements.copy(columns)) { writer in
      while let item = reader.item,
        batch.seen < limit || (before.seen == 0 && batch.rejected == batch.seen)
      {
        batch.seen += 1
        try writer.beginRow(columnCount: columns.count + 5)
        writer.values.int8(before.seen + batch.seen)
        switch item {
        case .record:
          ids.add(reader.record)
          values.removeAll()
          values.append(reader.record, columns)
          values.withBytes(0..<values.count) { writer.values.append($0) }
          for _ in 0..<4 { writer.values.null() }
        case .reject(let reject):
          batch.rejected += 1
          if batch.firstReject == nil { batch.firstReject = reject }
          try write(reject, isKept: budget.keeps(reject), to: &writer)
        }
        if batch.seen % 1000 == 0 { progress(before.seen + batch.seen) }
        try reader.advance()
      }
    }
    progress(before.seen + batch.seen)
  }

  /// - Parameter isKept: Whether the reject is kept with its text, or only counted.
  private func write(
    _ reject: ImportReject, isKept: Bool, to writer: inout CopyWriter
  ) throws {
    for column in columns {
      if column == .code, let code = reject.code {
        writer.values.text(code)
      } else {
        writer.values.null()
      }
    }
    writer.values.text(reject.place)
    writer.values.text(reject.reason)
    if isKept { writer.values.text(reject.raw) } else { writer.values.null() }
    writer.values.bool(reject.isOfTime)
  }
}

extension CopyValues {
  /// Appends the values of a record in these columns, null where it has none.
  mutating func append(_ record: EventRecord, _ columns: [EventColumn]) {
    for column in columns { append(record, column) }
  }

  private mutating func append(_ record: EventRecord, _ column: EventColumn) {
    switch column.kind {
    case .text:
      record.withUTF8(column) { utf8 in
        if let utf8 { text(utf8) } else { null() }
      }
    case .float8: if let value = record.double(column) { float8(value) } else { null() }
    case .int4: if let value = record.integer(column) { int4(Int32(value)) } else { null() }
    case .int2: if let value = record.integer(column) { int2(Int16(value)) } else { null() }
    case .timestamp:
      if let value = record.timestamp(column) {
        timestamp(microseconds: value.microseconds)
      } else {
        null()
      }
    case .bool: if let value = record.bool(column) { bool(value) } else { null() }
    }
  }
}
