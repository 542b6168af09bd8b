internal import CommandLine

/// Writes metrics in Prometheus's text format, version 0.0.4.
package struct PrometheusText {
  package enum Kind: String {
    case counter
    case gauge
    case histogram
  }

  package struct Sample {
    let labels: [(String, String)]
    let value: Double

    /// A sample; nil if there is no value.
    package init?(_ value: Double?, _ labels: KeyValuePairs<String, String> = [:]) {
      guard let value else { return nil }
      self.value = value
      self.labels = labels.map { ($0.key, $0.value) }
    }
  }

  package private(set) var text = ""

  package init() {}

  package mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
  }

  package mutating func value(
    _ name: String, _ labels: [(String, String)] = [], _ value: Double
  ) {
    let pairs = labels.map { "\($0.0)=\"\(Self.escaped(PrintableText.cut($0.1)))\"" }
    text += name + (pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}")
    text += " \(Self.number(value))\n"
  }

  /// Writes a metric with its samples, unless it has none.
  package mutating func metric(
    _ name: String, _ kind: Kind, _ help: String, _ samples: [Sample?]
  ) {
    let samples = samples.compactMap { $0 }
    if !samples.isEmpty { begin(name, kind, help) }
    for sample in samples { value(name, sample.labels, sample.value) }
  }

  /// Writes a gauge, unless it has no samples.
  package mutating func gauge(_ name: String, _ help: String, _ samples: [Sample?]) {
    metric(name, .gauge, help, samples)
  }

  /// Writes a gauge that has one value, unless it is nil.
  package mutating func gauge(_ name: String, _ help: String, _ value: Double?) {
    metric(name, .gauge, help, [Sample(value)])
  }

  /// Writes a counter, unless it has no samples.
  package mutating func counter(_ name: String, _ help: String, _ samples: [Sample?]) {
    metric(name, .counter, help, samples)
  }

  /// Hidden characters are escaped, not replaced: names that differ only in them stay distinct, and two series of
  /// one name would be an error.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"": escaped += "\\\""
      case _ where PrintableText.isHidden(scalar):
        escaped += "\\\\u{" + String(scalar.value, radix: 16) + "}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// A number as the format has it.
  package static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    guard value.isFinite else { return value < 0 ? "-Inf" : "+Inf" }
    return value.rounded() == value && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)"
  }
}
