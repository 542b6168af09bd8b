/// Writes metrics in Prometheus's text format, version 0.0.4.
struct PrometheusText {
  enum Kind: String {
    case counter
    case gauge
    case histogram
  }

  private(set) var text = ""

  /// Begins a metric.
  mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
  }

  /// Writes a value.
  mutating func value(_ name: String, _ labels: [(String, String)] = [], _ value: Double) {
    text += name + Self.text(labels) + " " + Self.text(value) + "\n"
  }

  /// Writes a metric that has one value.
  mutating func single(_ name: String, _ kind: Kind, _ help: String, _ number: Double) {
    begin(name, kind, help)
    value(name, [], number)
  }

  /// Writes the values of a histogram that was begun.
  mutating func histogram(_ name: String, _ labels: [(String, String)] = [], _ histogram: Histogram)
  {
    let (counts, sum, total) = histogram.values
    var count: Int64 = 0
    for (bound, more) in zip(histogram.bounds, counts) {
      count += more
      value(name + "_bucket", labels + [("le", Self.text(bound))], Double(count))
    }
    value(name + "_bucket", labels + [("le", "+Inf")], Double(total))
    value(name + "_sum", labels, sum)
    value(name + "_count", labels, Double(total))
  }

  private static func text(_ labels: [(String, String)]) -> String {
    guard !labels.isEmpty else { return "" }
    let pairs = labels.map { name, value in
      let escaped = value.map { character in
        switch character {
        case "\\": "\\\\"
        case "\"": "\\\""
        case "\n": "\\n"
        default: String(character)
        }
      }.joined()
      return "\(name)=\"\(escaped)\""
    }
    return "{\(pairs.joined(separator: ","))}"
  }

  private static func text(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }
}
