import TestSupport

/// Prometheus' text format, read more strictly than Prometheus does: HELP, then TYPE, then the samples
/// of one metric, each metric once, each set of labels once.
struct PrometheusText {
  struct Sample: Equatable {
    var labels: [String: String]
    var value: Double
  }

  struct Family {
    var help: String
    var type: String
    var samples: [Sample]
  }

  private(set) var families: [String: Family] = [:]

  init(_ text: String) throws {
    guard text.hasSuffix("\n") else { throw Self.fault("no line feed at the end", text) }
    var current = ""
    for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
      if let match = line.wholeMatch(of: #/# HELP ([a-z][a-z0-9_]*) (.+)/#) {
        current = String(match.1)
        guard families[current] == nil else { throw Self.fault("a second time", line) }
        try Self.checkName(current)
        families[current] = Family(help: String(match.2), type: "", samples: [])
      } else if let match = line.wholeMatch(of: #/# TYPE ([a-z][a-z0-9_]*) (gauge|counter)/#) {
        guard match.1 == current, families[current]?.type == "",
          families[current]?.samples.isEmpty == true
        else { throw Self.fault("TYPE out of place", line) }
        guard (match.2 == "counter") == current.hasSuffix("_total") else {
          throw Self.fault("_total is for counters", line)
        }
        families[current]?.type = String(match.2)
      } else if let match = line.wholeMatch(
        of: #/([a-z][a-z0-9_]*)(?:\{(.*)\})? ([-+0-9.eE]+|NaN|[-+]Inf)/#)
      {
        guard match.1 == current, families[current]?.type.isEmpty == false else {
          throw Self.fault("a sample out of place", line)
        }
        guard let value = Double(String(match.3)) else { throw Self.fault("no number", line) }
        let labels = try Self.labels(match.2.map(String.init) ?? "")
        guard families[current]?.samples.contains(where: { $0.labels == labels }) == false else {
          throw Self.fault("the same labels again", line)
        }
        families[current]?.samples.append(Sample(labels: labels, value: value))
      } else {
        throw Self.fault("neither HELP, TYPE nor a sample", line)
      }
    }
    for (name, family) in families where family.type.isEmpty || family.samples.isEmpty {
      throw Self.fault("without a type or a sample", name)
    }
  }

  /// The value of a sample; nil if there is none.
  func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    families[name]?.samples.first { $0.labels == labels }?.value
  }

  /// Base units only, at the end of the name.
  private static func checkName(_ name: String) throws {
    for word in name.split(separator: "_")
    where ["ms", "milliseconds", "minutes", "kb", "mb", "percent"].contains(word) {
      throw fault("not a base unit", name)
    }
  }

  private static func labels(_ text: String) throws -> [String: String] {
    var labels: [String: String] = [:]
    var rest = text[...]
    while !rest.isEmpty {
      guard let match = rest.prefixMatch(of: #/([a-z_]+)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)/#),
        labels[String(match.1)] == nil
      else { throw fault("not labels", text) }
      labels[String(match.1)] = unescaped(match.2)
      rest = rest[match.range.upperBound...]
      if match.3 == ",", rest.isEmpty { throw fault("a comma too many", text) }
    }
    return labels
  }

  private static func unescaped(_ text: Substring) -> String {
    var unescaped = ""
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if isEscaped {
        unescaped.unicodeScalars.append(scalar == "n" ? "\n" : scalar)
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else {
        unescaped.unicodeScalars.append(scalar)
      }
    }
    return unescaped
  }

  private static func fault(_ what: String, _ text: some StringProtocol) -> ToolProcess.Failure {
    ToolProcess.Failure(description: "\(what): \(text)")
  }
}
