import CommandLine
import QuakeModel
import QuakeQuery
import QuakeTool

/// Writes figures about all events.
struct StatisticsOutput {
  private let lines: Lines
  private let arguments: ParsedArguments
  private let column: EventColumn

  init(_ arguments: ParsedArguments, _ column: EventColumn) {
    lines = Lines(arguments)
    self.arguments = arguments
    self.column = column
  }

  func write(_ statistics: EventStatistics) throws {
    let reason = StatisticsOptions.reason(statistics.bValue, arguments)
    if lines.isJSON {
      try lines.write(text: "") { json, _ in
        json.statistics(statistics, of: column, reason: reason)
      }
    } else {
      let rows = rows(statistics, reason)
      let (names, values) = (rows.map(\.name), rows.map(\.value))
      let (first, second) = (width(names), width(values))
      for row in rows {
        let name = row.name + String(repeating: " ", count: first - row.name.count + 2)
        let value = String(repeating: " ", count: second - row.value.count) + row.value
        try lines.write(
          row.method.isEmpty ? "\(name)\(value)\n" : "\(name)\(value)  \(row.method)\n")
      }
    }
    try lines.flush()
  }

  private func method(_ method: Completeness?) -> String {
    switch method {
    case nil: ""
    case .maximumCurvature: "maximum curvature + 0.2 (Wiemer and Wyss, 2000)"
    case .bStability: "b-stability (Cao and Gao, 2002)"
    case .magnitude: "as given"
    }
  }

  private func width(_ texts: [String]) -> Int { texts.reduce(0) { max($0, $1.count) } }

  private func rows(
    _ statistics: EventStatistics, _ reason: String?
  ) -> [(name: String, value: String, method: String)] {
    let summary = statistics.summary
    func number(_ value: Double?, _ places: Int = 2) -> String {
      value.map { Readable.decimal($0, places: places) } ?? "none"
    }
    func sum(_ value: Double?) -> String { value.map(Readable.scientific) ?? "none" }
    let b = statistics.bValue
    let others = Int(statistics.otherEvents)
    let other = others == 1 ? "event" : "events"
    return [
      (
        "events", Readable.count(Int(summary.count)),
        others == 0
          ? ""
          : "earthquakes; not \(Readable.count(others)) \(other) of other types, which --type any counts"
      ),
      ("with \(column.name)", Readable.count(Int(summary.known)), ""),
      ("average \(column.name)", number(summary.average), ""),
      ("minimum \(column.name)", number(summary.minimum), ""),
      ("maximum \(column.name)", number(summary.maximum), ""),
      (
        "magnitude of completeness", number(b?.completeness, 1),
        method(b?.method)
      ),
      ("events of this magnitude and above", Readable.count(Int(b?.events ?? 0)), ""),
      ("b-value", number(b?.b), reason ?? "Aki (1965), Tinti and Mulargia (1987)"),
      ("standard error of the b-value", number(b?.standardError, 3), "Shi and Bolt (1982)"),
      ("energy, J", sum(summary.energy), "10^(1.5 M + 4.8) (Gutenberg and Richter, 1956)"),
      ("moment, N m", sum(summary.moment), "10^(1.5 M + 9.1) (Hanks and Kanamori, 1979)"),
    ]
  }
}
