import Postgres
import QuakeFeed
import QuakeModel

/// The original's first method: a prepared statement and a commit for each record.
struct OneByOne {
  private let table: PlainTable

  init(_ table: PlainTable) {
    self.table = table
  }

  func load(_ reader: FeedReader) throws {
    let statement = table.insert(rows: 1)
    var record = QuakeRecord()
    while let item = try reader.next(into: &record) {
      guard item == .record else { continue }
      try table.connection.executePrepared(
        statement, table.columns.map { table.parameter($0, of: record) })
    }
  }
}
