import CommandLine
import QuakeImport
import QuakeModel
import QuakeTool

/// Imports as a table and as JSON.
enum ImportsOutput {
  static func write(_ entries: [ImportList.Entry], isJSON: Bool) throws {
    try StandardOutput().write(
      entries, isJSON: isJSON, members: members(of:to:), text: table(of:))
  }

  private static func table(of entries: [ImportList.Entry]) -> String {
    var table = TextTable([
      .number("import"), .text("feed"), .text("generated"), .number("seen"), .number("inserted"),
      .number("updated"), .text("quarantine"),
    ])
    for entry in entries {
      table.add([
        "\(entry.id)", PrintableText.line(entry.feed), entry.generated?.text ?? "",
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

  private static func members(of entry: ImportList.Entry, to json: inout JSONWriter) {
    let report = entry.report
    json.key("import")
    json.integer(entry.id)
    json.key("feed")
    json.string(entry.feed)
    json.key("source")
    json.string(entry.source)
    json.key("format")
    json.string(entry.format)
    json.key("generated")
    json.timestamp(entry.generated)
    json.key("started_at")
    json.timestamp(entry.startedAt)
    report.writeCounts(to: &json)
    report.writeOtherCounts(to: &json)
    json.key("bytes")
    json.integer(report.bytes)
    json.key("quarantine_reason")
    json.string(report.quarantine?.reason.rawValue)
    json.key("quarantine_detail")
    json.string(report.quarantine?.detail)
    json.key("kept_bytes")
    json.integer(entry.keptBytes)
    json.key("decision")
    json.string(entry.decision)
    json.key("applied_import")
    json.integer(entry.appliedBy)
  }
}
