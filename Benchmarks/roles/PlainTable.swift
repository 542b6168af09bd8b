import Postgres
import QuakeModel

/// The table without triggers, written to by statements with parameters.
struct PlainTable {
  let connection: Connection
  /// The columns that a feed fills.
  let columns = QuakeColumn.feed

  init(_ conninfo: String) throws {
    connection = try Connection(ConnectionSettings(conninfo, applicationName: "quake-bench"))
  }

  /// Inserts `rows` events, or updates existing ones that differ.
  func insert(rows: Int) -> SQL {
    let names = columns.map(\.name)
    let rest = names.filter { $0 != QuakeColumn.code.name }
    var next = 0
    let values = (0..<rows).map { _ in
      "("
        + columns.map { _ in
          next += 1
          return "$\(next)"
        }.joined(separator: ", ") + ")"
    }
    return SQL(
      trusted: """
        insert into public.plain as p (\(names.joined(separator: ", ")))
        values \(values.joined(separator: ", "))
        on conflict (code) do update set \(rest.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
         where (\(rest.map { "p." + $0 }.joined(separator: ", ")))
               is distinct from (\(rest.map { "excluded." + $0 }.joined(separator: ", ")))
        """)
  }

  /// A record's value as a parameter.
  func parameter(_ column: QuakeColumn, of record: QuakeRecord) -> Parameter {
    switch column.kind {
    case .text: .text(record.text(column))
    case .float8: record.double(column).map { .double($0) } ?? .null
    case .int4, .int2: .integer(record.integer(column).map { Int64($0) })
    case .timestamp: .text(record.timestamp(column)?.description)
    case .bool: record.bool(column).map { .bool($0) } ?? .null
    }
  }
}
