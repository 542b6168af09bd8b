/// A table of aligned columns for people to read.
package struct TextTable: Sendable {
  package struct Column: Sendable {
    package let header: String
    /// Whether its cells are aligned to the right, like numbers.
    package let isRightAligned: Bool

    package static func text(_ header: String) -> Column {
      Column(header: PrintableText.line(header), isRightAligned: false)
    }

    package static func number(_ header: String) -> Column {
      Column(header: header, isRightAligned: true)
    }
  }

  package struct Cell: Sendable, ExpressibleByStringLiteral {
    /// Its text on one line. Hidden characters are replaced, and a long text is cut.
    package let text: String
    package let styles: [TextStyle]

    package init(_ text: String, _ styles: TextStyle...) {
      self.text = PrintableText.line(text)
      self.styles = styles
    }

    package init(stringLiteral value: String) { self.init(value) }
  }

  package let columns: [Column]
  private var rows: [[Cell]] = []
  /// The paragraphs below each row.
  private var notes: [[String]] = []

  package init(_ columns: [Column]) { self.columns = columns }

  /// Adds a row. Missing cells are empty; excess cells are ignored.
  ///
  /// - Parameter notes: Paragraphs to print below the row.
  package mutating func add(_ cells: [Cell], notes: [String] = []) {
    self.notes.append(notes)
    let missing = max(0, columns.count - cells.count)
    rows.append(Array(cells.prefix(columns.count)) + Array(repeating: "", count: missing))
  }

  /// Adds a row of plain cells.
  package mutating func add(_ cells: [String], notes: [String] = []) {
    add(cells.map { Cell($0) }, notes: notes)
  }

  /// The table as lines of plain text, the header first.
  package func render() -> String {
    let widths = Self.widths(of: columns, rows)
    var list = DetailList(nameWidth: 0)
    func add(_ cells: [Cell]) {
      list.add(line: Self.line(cells, columns, widths, within: nil, Colour(isEnabled: false)))
    }
    add(columns.map { Cell($0.header) })
    for (cells, notes) in zip(rows, notes) {
      add(cells)
      for note in notes { list.add(paragraph: note, indent: 2) }
    }
    return list.text
  }

  fileprivate static let gap = 2

  fileprivate static func widths(of columns: [Column], _ rows: [[Cell]]) -> [Int] {
    columns.indices.map { column in
      rows.reduce(DisplayWidth.of(columns[column].header)) {
        max($0, DisplayWidth.of($1[column].text))
      }
    }
  }

  /// A row as a line, without spaces at its end.
  ///
  /// - Parameter lineWidth: The columns of the terminal, to which cells are cut; nil: nothing is cut.
  fileprivate static func line(
    _ cells: [Cell], _ columns: [Column], _ widths: [Int], within lineWidth: Int?, _ colour: Colour
  ) -> String {
    var line = ""
    var position = 0  // columns of the terminal that the line has so far
    var wanted = 0  // where the present cell begins
    for (index, cell) in cells.prefix(columns.count).enumerated() {
      let width = widths[index]
      var text = cell.text
      if lineWidth != nil { text = DisplayWidth.cut(text, to: width) }
      let size = DisplayWidth.of(text)
      let start = wanted + (columns[index].isRightAligned ? max(0, width - size) : 0)
      if let lineWidth, start + size > lineWidth {
        // Too many columns for this terminal: the line ends where the terminal's does.
        text = DisplayWidth.cut(text, to: max(0, lineWidth - start))
        guard !text.isEmpty else { break }
      }
      if !text.isEmpty {
        let spaces = max(index > 0 ? 1 : 0, start - position)
        line += String(repeating: " ", count: spaces) + colour.apply(cell.styles, to: text)
        position += spaces + DisplayWidth.of(text)
      }
      wanted += width + gap
    }
    return line
  }
}

/// Prints a table of any number of rows in bounded memory: the first rows determine the widths of its columns.
///
/// On a terminal, columns of text share the width that is left, and longer texts are cut, those in `whole` only
/// after all others are at the least width. Elsewhere nothing is cut, and a later text that is longer than its
/// column moves the rest of its line to the right.
package struct FittedTable {
  private let columns: [TextTable.Column]
  private let whole: Set<Int>
  private let lineWidth: Int?
  private let colour: Colour
  private let output: StandardOutput
  private var waiting: [[TextTable.Cell]] = []
  private var widths: [Int] = []

  /// The number of rows from which the widths are determined: more than a screen.
  private static let sample = 500
  /// The least width that a column of text is cut to.
  private static let leastWidth = 8

  /// A table on `output`.
  ///
  /// - Parameters:
  ///   - whole: The indices of columns of text that are cut last.
  ///   - width: The columns of the terminal; nil: as wide as it gets.
  package init(
    _ columns: [TextTable.Column], keeping whole: Set<Int> = [], width: Int?, colour: Colour,
    output: StandardOutput
  ) {
    self.columns = columns
    self.whole = whole
    lineWidth = width
    self.colour = colour
    self.output = output
  }

  /// Adds a row with a cell for each column.
  package mutating func add(_ cells: [TextTable.Cell]) throws(OutputError) {
    if widths.isEmpty {
      waiting.append(cells)
      if waiting.count == Self.sample { try writeWaiting() }
    } else {
      try write(cells)
    }
  }

  /// Writes the rows that are left. A table without rows has no header either.
  package mutating func finish() throws(OutputError) {
    if !waiting.isEmpty { try writeWaiting() }
  }

  private mutating func writeWaiting() throws(OutputError) {
    widths = TextTable.widths(of: columns, waiting)
    fitWidths()
    try write(columns.map { TextTable.Cell($0.header, .bold) })
    for row in waiting { try write(row) }
    waiting = []
  }

  /// Narrows the widest columns of text until the line fits.
  private mutating func fitWidths() {
    let texts = columns.indices.filter { !columns[$0].isRightAligned }
    narrow(texts.filter { !whole.contains($0) })
    narrow(texts)
  }

  private mutating func narrow(_ texts: [Int]) {
    guard let lineWidth else { return }
    while widths.reduce(TextTable.gap * (widths.count - 1), +) > lineWidth {
      guard let widest = texts.max(by: { widths[$0] < widths[$1] }),
        widths[widest] > Self.leastWidth
      else { return }
      widths[widest] -= 1
    }
  }

  private func write(_ cells: [TextTable.Cell]) throws(OutputError) {
    try output.writeLine(TextTable.line(cells, columns, widths, within: lineWidth, colour))
  }
}

/// Names and values below one another, and paragraphs, no wider than a usual terminal: for people to read.
///
/// Values are wrapped at words; a single word that is longer stays whole, because it may be a path.
package struct DetailList {
  private static let width = 80

  private let nameWidth: Int
  package private(set) var text = ""

  /// A list whose values begin in the column `nameWidth`.
  package init(nameWidth: Int) {
    self.nameWidth = nameWidth
  }

  package mutating func add(_ name: String, _ value: String) {
    let indent = String(repeating: " ", count: nameWidth)
    let lines = TextWrapping.lines(PrintableText.line(value), width: Self.width - nameWidth)
    let padding = String(
      repeating: " ", count: max(1, nameWidth - DisplayWidth.of(name)))
    text += name + (lines.first.map { padding + $0 } ?? "") + "\n"
    for line in lines.dropFirst() { text += indent + line + "\n" }
  }

  package mutating func add(paragraph: String, indent: Int = 0) {
    let lines = TextWrapping.lines(PrintableText.line(paragraph), width: Self.width - indent - 2)
    for (index, line) in lines.enumerated() {
      // The lines after the first are indented further, so that paragraphs stay apart.
      text += String(repeating: " ", count: indent + (index > 0 ? 2 : 0)) + line + "\n"
    }
  }

  fileprivate mutating func add(line: String) { text += line + "\n" }
}
