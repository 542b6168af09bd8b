import CommandLine
import Glibc
import Postgres
import QuakeModel
import QuakeQuery

/// Draws groups of events as bars in the terminal. The numbers of events by magnitude are those of each class and
/// above, on a logarithmic scale, on which the relation of Gutenberg and Richter is a straight line.
struct GroupPlot {
  private let key: EventKey
  private let column: EventColumn?
  private let everyType: Bool
  private let hasUnicode: Bool
  private let width: Int

  /// The most bars, unless the user gives a number.
  private static let mostBars: Int64 = 50

  /// A picture of the number of events, or of the average of a column.
  init(_ key: EventKey, of column: EventColumn?, everyType: Bool) {
    self.key = key
    self.column = column
    self.everyType = everyType
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy
      .compactMap { Environment.value($0) }.first { !$0.isEmpty }
    hasUnicode = locale.map { $0.lowercased().replacing("-", with: "").contains("utf8") } ?? false
    width = min(Terminal.columns(1) ?? 80, 400)
  }

  /// Draws the groups, and returns whether there was one.
  func draw(_ query: EventQuery, over connection: Connection) throws -> Bool {
    var query = query
    var hasGroups = false
    if query.limit == nil, !key.hasNaturalOrder { query.limit = Self.mostBars }
    var without: EventSummary?
    var bars = BarPlot(
      (key.name, name, isCumulative ? "on a logarithmic scale" : ""), width: width,
      hasUnicode: hasUnicode)
    try query.groups(
      by: key, of: column ?? .magnitude, everyType: everyType, over: connection
    ) { group in
      if isCumulative, group.cumulative == nil { without = group.summary }
      guard let value = isCumulative ? group.cumulative.map(Double.init) : value(group.summary)
      else { return }
      hasGroups = true
      bars.add(
        PrintableText.line(key.text(group.key), atMost: 200),
        isCumulative ? Self.logarithm(value) : value, text(value))
    }
    let output = StandardOutput()
    if hasGroups { try bars.write(to: output) }
    if hasGroups, let without {
      try output.writeLine("\(Readable.count(without.count, "event")) without \(key.name)")
    }
    try output.flush()
    return hasGroups
  }

  private var isCumulative: Bool {
    if case .magnitude = key { column == nil } else { false }
  }

  /// What is drawn.
  private var name: String {
    column.map { "average \($0.name)" }
      ?? (isCumulative ? "events of each class and above" : "events")
  }

  private func value(_ summary: EventSummary) -> Double? {
    column == nil ? Double(summary.count) : summary.average
  }

  private func text(_ value: Double) -> String {
    column == nil ? Readable.count(Int(value)) : Readable.decimal(value, places: 2)
  }

  /// A number of events on a logarithmic scale, on which 1 is above the bottom.
  private static func logarithm(_ number: Double) -> Double {
    number < 1 ? 0 : log10(number) + 0.3
  }
}
