import CommandLine

/// Metrics in Prometheus' text format, version 0.0.4.
struct MetricsText {
  /// One value of a metric.
  struct Sample {
    let labels: [(name: String, value: String)]
    let value: Double

    /// A sample; nil if there is no value.
    init?(_ value: Double?, _ labels: KeyValuePairs<String, String> = [:]) {
      guard let value else { return nil }
      self.value = value
      self.labels = labels.map { ($0.key, $0.value) }
    }
  }

  private(set) var text = ""

  /// Adds a gauge, unless it has no samples.
  mutating func gauge(_ name: String, _ help: String, _ samples: [Sample?]) {
    let samples = samples.compactMap { $0 }
    guard !samples.isEmpty else { return }
    text += "# HELP \(name) \(Self.escaped(help))\n# TYPE \(name) gauge\n"
    for sample in samples {
      let labels = sample.labels.map { label in
        "\(label.name)=\"\(Self.escaped(PrintableText.cut(label.value), quoted: true))\""
      }
      text += name + (labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}")
      text += " \(Self.number(sample.value))\n"
    }
  }

  private static func escaped(_ text: String, quoted: Bool = false) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quoted: escaped += "\\\""
      // Hidden characters are escaped, not replaced: names that differ only in them stay distinct, and two
      // series of one name would be an error.
      case _ where PrintableText.isHidden(scalar):
        escaped += "\\\\u{" + String(scalar.value, radix: 16) + "}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    guard value.isFinite else { return value < 0 ? "-Inf" : "+Inf" }
    return value.rounded() == value && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)"
  }
}
