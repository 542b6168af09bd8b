import CommandLine
import Glibc
import Postgres
import QuakeFeed
import QuakeModel

/// The role of this program when it starts itself as a child.
enum Role: String, CaseIterable, Sendable {
  /// Decodes a file, and prints how many events it has.
  case decode
  /// Loads a file: a statement and a commit for each event.
  case oneByOne = "one-by-one"
  /// Loads a file in batches of dictionaries.
  case dictionaryBatches = "dictionary-batches"
  /// Commits a number of changes, twenty a second.
  case steadyCommits = "steady-commits"

  /// The argument before the role on the command line, which a user would not type by accident.
  private static let mark = "--as-child"

  /// The command line of the role; a file follows, or a number.
  var arguments: [String] { [Self.mark, rawValue] }

  /// The role that a command line names; nil: none.
  init?(_ arguments: [String]) {
    guard arguments.count == 3, arguments[0] == Self.mark else { return nil }
    self.init(rawValue: arguments[1])
  }

  /// Performs the role and ends the process.
  func run() -> Never {
    do {
      guard let path = ProcessArguments.current.last else { exit(64) }
      if self == .steadyCommits {
        try SteadyCommits.run(Int(path) ?? 0, database: database)
        exit(0)
      }
      let reader = try FeedReader(source: FileSource(path: path), name: path)
      switch self {
      case .decode:
        let output = StandardOutput()
        try output.writeLine("\(try Self.count(reader))")
        try output.flush()
      case .oneByOne: try PlainTable(database).loadOneByOne(reader)
      case .steadyCommits: break
      case .dictionaryBatches: try PlainTable(database).loadBatches(reader)
      }
      exit(0)
    } catch {
      try? StandardOutput(descriptor: 2).writeLine("\(error)")
      exit(1)
    }
  }

  /// Decodes each event into a record, and returns their number.
  private static func count(_ reader: FeedReader) throws -> Int {
    var record = QuakeRecord()
    var count = 0
    while let item = try reader.next(into: &record) {
      if item == .record, record.has(.code) { count += 1 }
    }
    return count
  }

  private var database: String { Environment.value("DATABASE_URL") ?? "" }
}

/// The table without triggers, written to by statements with parameters.
struct PlainTable {
  private let connection: Connection
  /// The columns that a feed fills.
  private let columns = QuakeColumn.feed

  init(_ conninfo: String) throws {
    connection = try Connection(ConnectionSettings(conninfo, applicationName: "quake-bench"))
  }

  /// The original's first method: a prepared statement and a commit for each record.
  func loadOneByOne(_ reader: FeedReader) throws {
    let statement = insert(rows: 1)
    var record = QuakeRecord()
    while let item = try reader.next(into: &record) {
      guard item == .record else { continue }
      try connection.executePrepared(statement, columns.map { parameter($0, of: record) })
    }
  }

  /// The original's second method: each record is a dictionary, and a batch of 256 is one statement
  /// and one commit. (The original held all records in memory; here they are read a batch at a time.)
  func loadBatches(_ reader: FeedReader) throws {
    let size = 256
    let full = insert(rows: size)
    func parameters(_ batch: [[String: Parameter]]) -> [Parameter] {
      batch.flatMap { dictionary in columns.map { dictionary[$0.name] ?? .null } }
    }
    var record = QuakeRecord()
    var batch: [[String: Parameter]] = []
    while let item = try reader.next(into: &record) {
      guard item == .record else { continue }
      var dictionary: [String: Parameter] = [:]
      for column in columns where record.has(column) {
        dictionary[column.name] = parameter(column, of: record)
      }
      batch.append(dictionary)
      if batch.count == size {
        try connection.executePrepared(full, parameters(batch))
        batch.removeAll(keepingCapacity: true)
      }
    }
    if !batch.isEmpty { try connection.execute(insert(rows: batch.count), parameters(batch)) }
  }

  /// Inserts `rows` events, or updates existing ones that differ.
  private func insert(rows: Int) -> SQL {
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
  private func parameter(_ column: QuakeColumn, of record: QuakeRecord) -> Parameter {
    switch column.kind {
    case .text: .text(record.text(column))
    case .float8: record.double(column).map { .double($0) } ?? .null
    case .int4, .int2: .integer(record.integer(column).map { Int64($0) })
    case .timestamp: .text(record.timestamp(column)?.description)
    case .bool: record.bool(column).map { .bool($0) } ?? .null
    }
  }
}
