/// Prints a table of any number of rows in bounded memory: the first rows determine the widths of its columns.
///
/// On a terminal, columns of text share the width that is left, and longer texts are cut, those in `whole` only
/// after all others are at the least width. Elsewhere nothing is cut, and a later text that is longer than its
/// column moves the rest of its line to the right.
public struct FittedTable {
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
  private static let gap = 2

  /// A table on `output`.
  ///
  /// - Parameters:
  ///   - whole: The indices of columns of text that are cut last.
  ///   - width: The columns of the terminal; nil: as wide as it gets.
  public init(
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
  public mutating func add(_ cells: [TextTable.Cell]) throws(OutputError) {
    if widths.isEmpty {
      waiting.append(cells)
      if waiting.count == Self.sample { try writeWaiting() }
    } else {
      try write(cells)
    }
  }

  /// Writes the rows that are left. A table without rows has no header either.
  public mutating func finish() throws(OutputError) {
    if !waiting.isEmpty { try writeWaiting() }
  }

  private mutating func writeWaiting() throws(OutputError) {
    widths = columns.indices.map { column in
      waiting.reduce(DisplayWidth.of(columns[column].header)) {
        max($0, DisplayWidth.of($1[column].text))
      }
    }
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
    while widths.reduce(Self.gap * (widths.count - 1), +) > lineWidth {
      guard let widest = texts.max(by: { widths[$0] < widths[$1] }),
        widths[widest] > Self.leastWidth
      else { return }
      widths[widest] -= 1
    }
  }

  private func write(_ cells: [TextTable.Cell]) throws(OutputError) {
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
      wanted += width + Self.gap
    }
    try output.writeLine(line)
  }
}
