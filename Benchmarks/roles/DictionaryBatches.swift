import Postgres
import QuakeFeed
import QuakeModel

/// The original's second method: each record is a dictionary, and a batch of 256 is one statement
/// and one commit. (The original held all records in memory; here they are read a batch at a time.)
struct DictionaryBatches {
  static let size = 256

  private let table: PlainTable

  init(_ table: PlainTable) {
    self.table = table
  }

  func load(_ reader: FeedReader) throws {
    let full = table.insert(rows: Self.size)
    var record = QuakeRecord()
    var batch: [[String: Parameter]] = []
    while let item = try reader.next(into: &record) {
      guard item == .record else { continue }
      var dictionary: [String: Parameter] = [:]
      for column in table.columns where record.has(column) {
        dictionary[column.name] = table.parameter(column, of: record)
      }
      batch.append(dictionary)
      if batch.count == Self.size {
        try table.connection.executePrepared(full, parameters(batch))
        batch.removeAll(keepingCapacity: true)
      }
    }
    if !batch.isEmpty {
      try table.connection.execute(table.insert(rows: batch.count), parameters(batch))
    }
  }

  private func parameters(_ batch: [[String: Parameter]]) -> [Parameter] {
    batch.flatMap { dictionary in table.columns.map { dictionary[$0.name] ?? .null } }
  }
}
