import CommandLine
import QuakeModel
import QuakeTool

/// A table of events for people.
struct EventTable {
  private let columns: [EventColumn]
  /// Whether the user named no columns, and reads the table.
  private let isUsual: Bool
  private var table: FittedTable

  /// The columns of a table for which the user names none.
  private static let usual: [EventColumn] = [.time, .magnitude, .depth, .place, .code]

  /// A table of these columns on `output`, as wide as the terminal if standard output is one.
  init(_ columns: [EventColumn]?, output: StandardOutput) {
    isUsual = columns == nil
    let shown = columns ?? Self.usual
    self.columns = shown
    let headers = shown.map { column -> TextTable.Column in
      switch column.kind {
      case .float8, .int4, .int2: .number(column.name)
      case .text, .timestamp, .bool: .text(column.name)
      }
    }
    let whole = shown.indices.filter { shown[$0] == .code || shown[$0].kind == .timestamp }
    table = FittedTable(
      headers + [.text("")], keeping: Set(whole),
      width: Terminal.isTerminal(1) ? Terminal.columns(1) ?? 80 : nil,
      colour: .ofStandardOutput, output: output)
  }

  /// - Parameter note: Follows the last column.
  mutating func add(_ event: EventRecord, note: String = "") throws(OutputError) {
    try table.add(columns.map { cell($0, of: event) } + [TextTable.Cell(note)])
  }

  mutating func finish() throws(OutputError) { try table.finish() }

  private func cell(_ column: EventColumn, of event: EventRecord) -> TextTable.Cell {
    guard event.has(column) else { return "" }
    if column == .magnitude, let magnitude = event.magnitude {
      return TextTable.Cell(Readable.shortest(magnitude), ChangeText.style(ofMagnitude: magnitude))
    }
    if let number = event.double(column), column.kind == .float8 {
      return TextTable.Cell(Readable.shortest(number))
    }
    if isUsual, column.kind == .timestamp, let moment = event.timestamp(column) {
      return TextTable.Cell(moment.text)
    }
    return TextTable.Cell(
      ChangeText.value(column, event, width: nil, atMost: PrintableText.lineLimit))
  }
}
