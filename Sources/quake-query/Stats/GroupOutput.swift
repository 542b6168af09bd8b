import CommandLine
import Glibc
import Postgres
import QuakeModel
import QuakeQuery
import QuakeTool

/// Writes groups of events, as a table or as JSON.
struct GroupOutput {
  private let key: EventKey
  private let column: EventColumn
  private let everyType: Bool
  private let arguments: ParsedArguments

  init(_ key: EventKey, _ options: StatisticsOptions, _ arguments: ParsedArguments) {
    self.key = key
    column = options.column
    everyType = options.everyType
    self.arguments = arguments
  }

  /// Writes the groups, and returns their number.
  func write(_ query: EventQuery, over connection: Connection) throws -> Int {
    var count = 0
    if arguments.flag("json") {
      let lines = Lines(arguments)
      try query.groups(by: key, of: column, everyType: everyType, over: connection) { group in
        count += 1
        try lines.write(text: "") { json, _ in json.group(group, by: key, of: column) }
      }
      try lines.flush()
      return count
    }
    try Pager.run { output in
      let names = ["events", "average", "minimum", "maximum", "energy, J", "moment, N m"]
      let first: TextTable.Column =
        key.name == "magnitude" ? .number(key.name) : .text(key.name)
      var table = FittedTable(
        [first] + names.map { TextTable.Column.number($0) },
        width: Terminal.isTerminal(1) ? Terminal.columns(1) ?? 80 : nil, colour: Colour(for: 1),
        output: output)
      try query.groups(by: key, of: column, everyType: everyType, over: connection) { group in
        count += 1
        let summary = group.summary
        let values =
          [summary.average, summary.minimum, summary.maximum].map {
            $0.map { Readable.decimal($0, places: 2) } ?? ""
          } + [summary.energy, summary.moment].map { $0.map(Readable.scientific) ?? "" }
        try table.add(
          ([key.text(group.key), Readable.count(Int(summary.count))] + values).map {
            TextTable.Cell($0)
          })
      }
      try table.finish()
    }
    return count
  }
}

extension EventKey {
  /// A value of the key as text: `2026-11-20`, `2026-11-20T07:00Z`, `2026-11`; `none` if there is none.
  func text(_ value: Value?) -> String {
    switch value {
    case nil: "none"
    case .text(let text): text
    case .number(let number): Readable.shortest(number)
    case .time(let time): text(of: time)
    }
  }
}

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

struct BarPlot {
  private let names: (group: String, value: String, bar: String)
  private let width: Int
  private let hasUnicode: Bool
  private var bars: [(name: String, value: Double, text: String)] = []

  /// - Parameter names: What the groups, the values and the lengths of the bars are.
  init(
    _ names: (group: String, value: String, bar: String), width: Int, hasUnicode: Bool
  ) {
    self.names = names
    self.width = width
    self.hasUnicode = hasUnicode
  }

  mutating func add(_ name: String, _ value: Double, _ text: String) {
    bars.append((name, value, text))
  }

  func write(to output: StandardOutput) throws(OutputError) {
    let most = bars.reduce(0) { max($0, $1.value) }
    var table = FittedTable(
      [.text(names.group), .number(names.value), .text(names.bar)], width: nil,
      colour: Colour(isEnabled: false), output: output)
    for bar in bars {
      try table.add([
        TextTable.Cell(bar.name), TextTable.Cell(bar.text),
        TextTable.Cell(self.bar(most > 0 ? max(0, bar.value) / most : 0)),
      ])
    }
    try table.finish()
  }

  /// A bar of a share of the width.
  private func bar(_ share: Double) -> String {
    let space = Double(max(10, width / 2))
    guard hasUnicode else { return String(repeating: "#", count: Int((share * space).rounded())) }
    let eighths = Int((share * space * 8).rounded())
    let rest = eighths % 8
    let part = rest == 0 ? "" : ["▏", "▎", "▍", "▌", "▋", "▊", "▉"][rest - 1]
    return String(repeating: "█", count: eighths / 8) + part
  }
}
