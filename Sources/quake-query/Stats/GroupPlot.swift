import CommandLine
import Postgres
import QuakeModel
import QuakeQuery

/// Draws groups of events in the terminal: bars, or for times and magnitudes a picture of Braille dots if the
/// locale has Unicode. The numbers of events by magnitude are those of each class and above, on a logarithmic scale,
/// on which the relation of Gutenberg and Richter is a straight line.
struct GroupPlot {
  private let key: EventKey
  private let column: QuakeColumn?
  private let everyType: Bool
  private let hasUnicode: Bool
  private let width: Int

  /// The most bars, unless the user gives a number.
  private static let mostBars: Int64 = 50

  /// A picture of the number of events, or of the average of a column.
  init(_ key: EventKey, of column: QuakeColumn?, everyType: Bool) {
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
    let output = StandardOutput()
    let hasGroups =
      key.hasNaturalOrder && hasUnicode
      ? try drawDots(query, over: connection, output)
      : try drawBars(query, over: connection, output)
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

  private func drawBars(
    _ query: EventQuery, over connection: Connection, _ output: StandardOutput
  ) throws -> Bool {
    var query = query
    var hasGroups = false
    if query.limit == nil, !key.hasNaturalOrder { query.limit = Self.mostBars }
    var bars = BarPlot((key.name, name), width: width, hasUnicode: hasUnicode)
    try query.groups(
      by: key, of: column ?? .magnitude, everyType: everyType, over: connection
    ) { group in
      guard let value = isCumulative ? group.cumulative.map(Double.init) : value(group.summary)
      else { return }
      hasGroups = true
      bars.add(
        PrintableText.line(key.text(group.key), atMost: 200),
        isCumulative ? BraillePlot.logarithm(value) : value, text(value))
    }
    try bars.write(to: output)
    return hasGroups
  }

  private func drawDots(
    _ query: EventQuery, over connection: Connection, _ output: StandardOutput
  ) throws -> Bool {
    var series = DotSeries(adds: column == nil)
    var ends: (first: String, last: String)?
    var without: EventSummary?
    try query.groups(
      by: key, of: column ?? .magnitude, everyType: everyType, over: connection
    ) { group in
      guard let step = step(group.key) else {
        without = group.summary
        return
      }
      guard let value = value(group.summary) else { return }
      series.add(value, weight: Double(group.summary.known), at: step)
      let name = key.text(group.key)
      ends = (ends?.first ?? name, name)
    }
    guard let ends else { return false }
    try output.writeLine(
      "\(name) by \(key.name)\(isCumulative ? ", on a logarithmic scale" : "")")
    let plot = BraillePlot(width: width, height: isCumulative ? 12 : 8, isCumulative: isCumulative)
    try plot.write(series, from: ends.first, to: ends.last, label: text, to: output)
    if let without {
      try output.writeLine("\(Readable.count(without.count, "event")) without \(key.name)")
    }
    return true
  }

  /// The number of a group on the axis, counted from any beginning.
  private func step(_ value: EventKey.Value?) -> Int? {
    switch (key, value) {
    case (.magnitude(let width), .number(let number)): return Int((number / width).rounded())
    case (.month, .time(let time)):
      let parts = "\(time)".split(separator: "-")
      guard parts.count > 1, let year = Int(parts[0]), let month = Int(parts[1]) else { return nil }
      return year * 12 + month
    case (.hour, .time(let time)): return Int(time.microseconds / 3_600_000_000)
    case (_, .time(let time)): return Int(time.microseconds / 86_400_000_000)
    default: return nil
    }
  }
}
