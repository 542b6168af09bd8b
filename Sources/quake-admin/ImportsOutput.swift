import CommandLine
import QuakeModel
import QuakeStore

/// Imports as a table and as JSON.
enum ImportsOutput {
  static func table(of entries: [ImportList.Entry]) -> String {
    var table = TextTable([
      .number("import"), .text("feed"), .text("generated"), .number("seen"), .number("inserted"),
      .number("updated"), .text("set aside"),
    ])
    for entry in entries {
      table.add([
        "\(entry.id)", PrintableText.line(entry.feed), entry.generated?.description ?? "",
        "\(entry.report.seen)", "\(entry.report.inserted)", "\(entry.report.updated)",
        aside(entry),
      ])
    }
    return table.render()
  }

  private static func aside(_ entry: ImportList.Entry) -> String {
    guard let quarantine = entry.report.quarantine else { return "" }
    let decision = entry.decision.map { decision in
      decision + (entry.appliedBy.map { " by import \($0)" } ?? "") + "; "
    }
    return PrintableText.line(
      (decision ?? "") + "\(quarantine.reason.rawValue): \(quarantine.detail)")
  }

  static func write(_ entry: ImportList.Entry, to json: inout JSONWriter) {
    let report = entry.report
    json.object { json in
      integer("import", entry.id, &json)
      json.key("feed")
      json.string(entry.feed)
      json.key("source")
      json.string(entry.source)
      json.key("format")
      json.string(entry.format)
      json.key("generated")
      if let generated = entry.generated { json.timestamp(generated) } else { json.null() }
      json.key("started_at")
      json.timestamp(entry.startedAt)
      for (key, count) in [
        ("seen", report.seen), ("inserted", report.inserted), ("updated", report.updated),
        ("unchanged", report.unchanged), ("rejected", report.rejected),
        ("duplicate", report.duplicate), ("stale", report.stale),
        ("superseded", report.superseded), ("withdrawn", report.withdrawn),
        ("restored", report.restored), ("bytes", report.bytes),
      ] {
        integer(key, count, &json)
      }
      json.key("quarantine_reason")
      json.string(report.quarantine?.reason.rawValue)
      json.key("quarantine_detail")
      json.string(report.quarantine?.detail)
      integer("kept_bytes", entry.keptBytes, &json)
      json.key("decision")
      json.string(entry.decision)
      json.key("applied_import")
      if let applied = entry.appliedBy { json.integer(Int(applied)) } else { json.null() }
    }
    json.newline()
  }

  private static func integer(_ key: String, _ value: Int64, _ json: inout JSONWriter) {
    json.key(dynamic: key)
    json.integer(Int(value))
  }
}
