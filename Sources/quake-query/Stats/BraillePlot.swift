import CommandLine
import Glibc

/// A picture of a series with columns of Braille dots: two columns and four rows of dots in a character.
struct BraillePlot {
  /// The width in characters, with the labels.
  let width: Int
  /// The height in characters.
  let height: Int
  /// Whether each column shows the sum of its value and those on its right, on a logarithmic scale from 1.
  var isCumulative = false

  /// A number of events on a logarithmic scale, on which 1 is above the bottom.
  static func logarithm(_ number: Double) -> Double { number < 1 ? 0 : log10(number) + 0.3 }

  /// Writes the series, the greatest value on its left, and the names of its ends below. A logarithmic scale has
  /// the powers of ten on its left.
  func write(
    _ series: DotSeries, from first: String, to last: String, label: (Double) -> String,
    to output: StandardOutput
  ) throws(OutputError) {
    var columns = series.columns(2 * max(10, width - 12))
    if isCumulative {
      for index in columns.indices.reversed().dropFirst() { columns[index] += columns[index + 1] }
    }
    let most = columns.reduce(0) { max($0, $1) }
    var labels = [label(most)] + Array(repeating: "", count: max(0, height - 2)) + ["0"]
    if isCumulative {
      labels[height - 1] = ""
      columns = columns.map(Self.logarithm)
      for power in 0...15 where Self.logarithm(pow(10, Double(power))) <= Self.logarithm(most) {
        let dots =
          Self.logarithm(pow(10, Double(power))) / Self.logarithm(most) * Double(4 * height)
        let row = height - 1 - min(height - 1, (max(1, Int(dots.rounded())) - 1) / 4)
        if labels[row].isEmpty { labels[row] = label(pow(10, Double(power))) }
      }
    }
    let greatest = columns.reduce(0) { max($0, $1) }
    let margin = labels.reduce(1) { max($0, $1.count) }
    let space = 2 * max(10, width - margin - 2)
    // A few values get broad columns.
    let breadth = max(1, space / max(columns.count, 1))
    let heights = columns.prefix(space).map { value in
      greatest > 0 && value > 0 ? max(1, Int((value / greatest * Double(4 * height)).rounded())) : 0
    }
    let dots = heights.flatMap { Array(repeating: $0, count: breadth) }
    for row in 0..<height {
      let name = labels[row]
      var line = String(repeating: " ", count: margin - name.count) + name + " ┤"
      line += text(dots, row)
      try output.writeLine(line)
    }
    let axis = max(dots.count / 2, first.count + last.count + 1)
    let gap = String(repeating: " ", count: axis - first.count - last.count)
    try output.writeLine(
      String(repeating: " ", count: margin + 2) + (first == last ? first : first + gap + last))
  }

  /// The characters of a row, counted from the top.
  private func text(_ dots: [Int], _ row: Int) -> String {
    // The bits of the dots of a character from its bottom up, left and right.
    let bits: [[UInt32]] = [[0x40, 0x04, 0x02, 0x01], [0x80, 0x20, 0x10, 0x08]]
    let bottom = 4 * (height - 1 - row)
    var line = String.UnicodeScalarView()
    for start in stride(from: 0, to: dots.count, by: 2) {
      var pattern: UInt32 = 0x2800
      for side in 0..<2 where start + side < dots.count {
        for level in 0..<4 where dots[start + side] > bottom + level {
          pattern |= bits[side][level]
        }
      }
      if let scalar = Unicode.Scalar(pattern) { line.append(scalar) }
    }
    return String(line)
  }
}
