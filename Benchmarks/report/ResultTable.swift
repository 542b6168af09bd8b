import CommandLine
import QuakeModel

/// The figures of one workload.
struct ResultTable {
  /// A figure of each row, which a row may lack.
  struct Column {
    /// Its name in JSON.
    let key: String
    /// Its name in the tables.
    let header: String
    /// Decimals shown in the tables.
    let places: Int

    init(_ key: String, _ header: String, places: Int) {
      self.key = key
      self.header = header
      self.places = places
    }
  }

  /// The figures of one contender, or of one size.
  struct Row {
    var name: String
    /// One for each column; nil: there is none.
    var values: [Double?]
  }

  /// The workload's letter, and its title with what it was measured on.
  let letter: String
  let title: String
  /// The name of a row: a contender, unless the workload says otherwise.
  var subject = "contender"
  let columns: [Column]
  var rows: [Row] = []
  /// Notes, in sentences.
  var notes: [String] = []

  /// - Parameter size: The size of the measured data, in a few words.
  init(_ workload: some Workload, size: String, columns: [Column]) {
    letter = workload.letter
    title = "\(workload.title) (\(size))"
    self.columns = columns
  }

  mutating func add(_ name: String, _ values: [Double?]) {
    rows.append(Row(name: name, values: values))
  }

  // MARK: Forms

  /// The table as plain text.
  func text() -> String {
    var table = TextTable([.text(subject)] + columns.map { .number($0.header) })
    for row in rows { table.add([row.name] + cells(row)) }
    return "\n(\(letter)) \(title)\n\n" + table.render() + notes.map { "\($0)\n" }.joined()
  }

  /// A JSON object for each row, on a line of its own.
  func json() -> String {
    var writer = JSONWriter()
    for row in rows {
      writer.object { writer in
        writer.key("workload")
        writer.string(letter)
        writer.key("title")
        writer.string(title)
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
    for row in rows { text += line([row.name] + cells(row)) }
    for note in notes { text += "\n\(note)\n" }
    return text
  }

  private func cells(_ row: Row) -> [String] {
    zip(columns, row.values).map { column, value in
      guard let value, value.isFinite else { return "–" }
      return Readable.decimal(value, places: column.places)
    }
  }
}
