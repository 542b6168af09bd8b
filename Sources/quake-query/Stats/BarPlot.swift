import CommandLine

/// A bar for each of a few values.
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
