import CommandLine
import QuakeModel

/// The machine, the versions, the server's settings, and the tables.
struct Report {
  private let versions: [(name: String, version: String)]
  private let absent: [(name: String, hint: String)]
  private let settings: [(name: String, value: String)]
  private let date = String(Timestamp.now().description.prefix(10))
  var tables: [ResultTable] = []

  init(_ bench: Bench) throws {
    versions =
      [("PostgreSQL", try bench.server.version()), ("Swift", Machine.swift)]
      + bench.contenders.map { ($0.contender.name, $0.version) }
    absent = bench.absent.map { ($0.name, $0.hint) }
    settings = try bench.server.settings()
  }

  private var settingsText: String {
    settings.map { "\($0.name) = \($0.value)" }.joined(separator: ", ")
  }

  func headText() -> String {
    var text = "\(date), \(Machine.description)\n"
    for (name, version) in versions { text += "\(name): \(version)\n" }
    for (name, hint) in absent { text += "\(name): not installed; \(hint)\n" }
    return text + "settings: \(settingsText)\n"
  }

  func headJSON() -> String {
    func object(_ writer: inout JSONWriter, _ key: StaticString, _ pairs: [(String, String)]) {
      writer.key(key)
      writer.object { writer in
        for (name, value) in pairs {
          writer.key(dynamic: name)
          writer.string(value)
        }
      }
    }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("date", date)
      writer.member("machine", Machine.description)
      object(&writer, "versions", versions)
      writer.array("absent") { writer in for (name, _) in absent { writer.string(name) } }
      object(&writer, "settings", settings)
    }
    writer.newline()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  func markdown() -> String {
    var text = "Measured on \(date): \(Machine.description).\n\n"
    for (name, version) in versions { text += "- \(name): \(version)\n" }
    for (name, hint) in absent { text += "- \(name): not installed (\(hint))\n" }
    text += "\nThe server's settings: `\(settingsText)`.\n\n"
    return text + tables.map { $0.markdown() }.joined(separator: "\n")
  }
}

/// The figures of one workload.
struct ResultTable {
  /// A figure of each row, which a row may lack.
  struct Column {
    /// Its names in JSON and in the tables, and the decimals shown there.
    let key: String
    let header: String
    let places: Int

    init(_ key: String, _ header: String, places: Int) {
      self.key = key
      self.header = header
      self.places = places
    }
  }

  /// The workload's letter, and its title with what it was measured on.
  let letter: String
  let title: String
  /// The name of a row: a contender, unless the workload says otherwise.
  var subject = "contender"
  let columns: [Column]
  /// The figures of one contender, or of one size: one for each column; nil: there is none.
  private var rows: [(name: String, values: [Double?])] = []
  /// Notes, in sentences.
  var notes: [String] = []

  /// - Parameter size: The size of the measured data, in a few words.
  init(_ workload: some Workload, size: String, columns: [Column]) {
    letter = workload.letter
    title = "\(workload.title) (\(size))"
    self.columns = columns
  }

  mutating func add(_ name: String, _ values: [Double?]) {
    rows.append((name, values))
  }

  /// The table as plain text.
  func text() -> String {
    var table = TextTable([.text(subject)] + columns.map { .number($0.header) })
    for row in rows { table.add([row.name] + cells(row.values)) }
    return "\n(\(letter)) \(title)\n\n" + table.render() + notes.map { "\($0)\n" }.joined()
  }

  /// A JSON object for each row, on a line of its own.
  func json() -> String {
    var writer = JSONWriter()
    for row in rows {
      writer.object { writer in
        writer.member("workload", letter)
        writer.member("title", title)
        writer.key(dynamic: subject)
        writer.string(row.name)
        for (column, value) in zip(columns, row.values) {
          writer.key(dynamic: column.key)
          if let value { writer.double(value) } else { writer.null() }
        }
      }
      writer.newline()
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// The table as a section of a Markdown document.
  func markdown() -> String {
    func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }
    var text = "### (\(letter)) \(title)\n\n"
    text += line([subject] + columns.map(\.header))
    text += line(["---"] + columns.map { _ in "---:" })
    for row in rows { text += line([row.name] + cells(row.values)) }
    for note in notes { text += "\n\(note)\n" }
    return text
  }

  private func cells(_ values: [Double?]) -> [String] {
    zip(columns, values).map { column, value in
      guard let value, value.isFinite else { return "–" }
      return Readable.decimal(value, places: column.places)
    }
  }
}
