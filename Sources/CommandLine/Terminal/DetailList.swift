/// Names and values below one another, and paragraphs, no wider than a number of columns: for people to read.
///
/// Values are wrapped at words; a single word that is longer stays whole, because it may be a path.
public struct DetailList {
  /// The usual width of a terminal.
  public static let standardWidth = 80

  private let width: Int
  private let nameWidth: Int
  /// The lines so far.
  public private(set) var text = ""

  /// A list whose values begin in the column `nameWidth`.
  public init(nameWidth: Int, width: Int = standardWidth) {
    self.nameWidth = nameWidth
    self.width = width
  }

  /// Adds a name and its value.
  public mutating func add(_ name: String, _ value: String) {
    let indent = String(repeating: " ", count: nameWidth)
    let lines = TextWrapping.lines(PrintableText.line(value), width: width - nameWidth)
    let padding = String(
      repeating: " ", count: max(1, nameWidth - DisplayWidth.of(name)))
    text += name + (lines.first.map { padding + $0 } ?? "") + "\n"
    for line in lines.dropFirst() { text += indent + line + "\n" }
  }

  /// Adds a paragraph.
  public mutating func add(paragraph: String, indent: Int = 0) {
    let lines = TextWrapping.lines(PrintableText.line(paragraph), width: width - indent - 2)
    for (index, line) in lines.enumerated() {
      // The lines after the first are indented further, so that paragraphs stay apart.
      text += String(repeating: " ", count: indent + (index > 0 ? 2 : 0)) + line + "\n"
    }
  }

  /// Adds lines unchanged.
  public mutating func add(lines: String) { text += lines }
}
