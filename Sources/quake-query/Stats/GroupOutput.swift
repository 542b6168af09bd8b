import CommandLine
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
        width: Terminal.isTerminal(1) ? Terminal.columns(1) ?? 80 : nil, colour: .ofStandardOutput,
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
