/// A table of aligned columns for people to read.
public struct TextTable: Sendable {
  /// A column.
  public struct Column: Sendable {
    /// The text above it.
    public let header: String
    /// Whether its cells are aligned to the right, like numbers.
    public let isRightAligned: Bool

    /// A column of text.
    public static func text(_ header: String) -> Column {
      Column(header: PrintableText.line(header), isRightAligned: false)
    }

    /// A column of numbers.
    public static func number(_ header: String) -> Column {
      Column(header: header, isRightAligned: true)
    }
  }

  /// A cell.
  public struct Cell: Sendable, ExpressibleByStringLiteral {
    /// Its text on one line. Hidden characters are replaced, and a long text is cut.
    public let text: String
    /// Its styles on a terminal.
    public let styles: [TextStyle]

    /// A cell.
    public init(_ text: String, _ styles: TextStyle...) {
      self.text = PrintableText.line(text)
      self.styles = styles
    }

    /// A plain cell.
    public init(stringLiteral value: String) { self.init(value) }
  }

  /// The columns.
  public let columns: [Column]
  private var rows: [[Cell]] = []

  /// A table without rows.
  public init(_ columns: [Column]) { self.columns = columns }

  /// Adds a row. Missing cells are empty; excess cells are ignored.
  public mutating func add(_ cells: [Cell]) {
    let missing = max(0, columns.count - cells.count)
    rows.append(Array(cells.prefix(columns.count)) + Array(repeating: "", count: missing))
  }

  /// Adds a row of plain cells.
  public mutating func add(_ cells: [String]) { add(cells.map { Cell($0) }) }

  /// The table as lines of text, the header first; plain unless `colour` is enabled.
  public func render(colour: Colour = Colour(isEnabled: false)) -> String {
    let widths = columns.indices.map { column in
      rows.reduce(DisplayWidth.of(columns[column].header)) {
        max($0, DisplayWidth.of($1[column].text))
      }
    }
    let header = columns.map { Cell($0.header, .bold) }
    return ([header] + rows).map { line($0, widths, colour) }.joined()
  }

  private func line(_ cells: [Cell], _ widths: [Int], _ colour: Colour) -> String {
    var line = ""
    var pending = 0  // spaces before the next cell, so that no line ends with spaces
    for (index, cell) in cells.enumerated() {
      let padding = widths[index] - DisplayWidth.of(cell.text)
      let isRight = columns[index].isRightAligned
      if isRight { pending += padding }
      if !cell.text.isEmpty {
        line += String(repeating: " ", count: pending) + colour.apply(cell.styles, to: cell.text)
        pending = 0
      }
      pending += (isRight ? 0 : padding) + 2
    }
    return line + "\n"
  }
}
