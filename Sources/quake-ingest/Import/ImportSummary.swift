import Basics
import CommandLine
import QuakeImport
import QuakeModel
import QuakeTool

/// The results of an import, for people and for programs.
struct ImportSummary {
  let options: ImportOptions
  let format: String
  let report: ImportReport
  let elapsed: Duration

  var text: String {
    if let quarantine = report.quarantine {
      return "\(options.feed): quarantined as \(quarantine.reason.rawValue): \(quarantine.detail)"
        + (report.id.map { " See \"quake-admin imports\", import \($0)." } ?? "")
    }
    return counts
  }

  /// The message about a snapshot in quarantine; nil if it was applied.
  var quarantine: (message: String, detail: String, hint: String?)? {
    report.quarantine.map { verdict in
      let hint = report.id.map { id in
        "See \"quake-admin imports\", import \(id); \"quake-admin imports apply \(id)\" applies it nevertheless"
          + (verdict.reason == .massLoss
            ? ", and later snapshots are then not expected to hold the events that it lacks." : ".")
      }
      return ("the snapshot was quarantined as \(verdict.reason.rawValue)", verdict.detail, hint)
    }
  }

  private var counts: String {
    var text = "\(options.feed): \(report.counts), in \(Readable.duration(elapsed))"
    for (count, what) in [
      (report.superseded, "superseded"), (report.withdrawn, "withdrawn"),
      (report.restored, "restored"),
    ] where count > 0 { text += ", \(Readable.count(Int(count))) \(what)" }
    if report.stale > 0 {
      text += "; \(Readable.count(Int(report.stale))) older than what is stored"
    }
    if let token = report.token { text += "; token \(token)" }
    if options.dryRun { text += " (dry run, rolled back)" }
    return text
  }

  /// The message about rejects; nil if there are none.
  var rejects: (message: String, hint: String?)? {
    guard let first = report.firstReject else { return nil }
    let what = report.rejected == 1 ? "1 record was" : "\(report.rejected) records were"
    return (
      "\(options.feed): \(what) rejected, the first: \(first.place): \(first.reason)",
      report.rejectsHint
    )
  }

  func print(
    to output: StandardOutput, asJSON: Bool, _ diagnostics: Diagnostics
  ) throws {
    if asJSON {
      try output.writeJSON { write(to: &$0) }
    } else {
      try output.writeResult(PrintableText.line(text), diagnostics)
    }
    try output.flush()
  }

  var fields: LogFields {
    [
      "feed": .text(options.feed), "import": report.id.map { .integer($0) },
      "seen": .integer(report.seen), "inserted": .integer(report.inserted),
      "updated": .integer(report.updated), "unchanged": .integer(report.unchanged),
      "rejected": .integer(report.rejected), "duplicate": .integer(report.duplicate),
      "stale": .integer(report.stale), "superseded": .integer(report.superseded),
      "withdrawn": .integer(report.withdrawn), "restored": .integer(report.restored),
      "quarantine": report.quarantine.map { .text($0.reason.rawValue) },
      "token": report.token.map { .text("\($0)") },
      "seconds": .number(elapsed.inSeconds), "dry_run": options.dryRun ? .flag(true) : nil,
    ]
  }

  var rejectFields: LogFields {
    [
      "feed": .text(options.feed), "import": report.id.map { .integer($0) },
      "rejected": .integer(report.rejected),
    ]
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("source", options.source)
      json.member("feed", options.feed)
      json.member("format", format)
      json.member("import", report.id)
      json.member("http_status", options.httpStatus)
      json.member("etag", options.etag)
      json.member("generated", report.generated)
      report.writeCounts(to: &json)
      report.writeOtherCounts(to: &json)
      json.key("quarantine")
      if let quarantine = report.quarantine {
        json.object { json in
          json.member("reason", quarantine.reason.rawValue)
          json.member("detail", quarantine.detail)
        }
      } else {
        json.null()
      }
      json.member("bytes", report.bytes)
      json.member("seconds", elapsed.inSeconds)
      json.member("receive_seconds", report.receiveDuration.inSeconds)
      json.member("merge_seconds", report.mergeDuration.inSeconds)
      json.member("complete", report.isComplete)
      json.member("dry_run", options.dryRun)
      json.member("token", report.token?.description)
    }
  }
}

extension ImportReport {
  /// Where the kept rejects are; nil if none are.
  var rejectsHint: String? {
    guard let id else { return nil }
    guard rejectsKept < rejected else {
      return "They are kept in quake.import_reject, import_id \(id)."
    }
    return
      "The first \(Readable.count(Int(rejectsKept))) are kept in quake.import_reject, import_id \(id)."
  }
}
