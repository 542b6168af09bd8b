import Basics
import CommandLine
import QuakeModel
import QuakeTool
import QuakeWorker

/// The output of a backfill: its progress, the counts of each part, and the totals at the end.
final class BackfillOutput {
  private let diagnostics: Diagnostics
  private let writesJSON: Bool
  private let output = StandardOutput()
  private let bar: ProgressBar
  private let begun = MonotonicClock.now()
  private let isTerminal: Bool
  private let noun: StaticString
  /// Records, or files, that were imported before this process began, and in all.
  private var before: Int64 = 0
  private var records: Int64 = 0
  private var expected: Int64?

  /// - Parameters:
  ///   - unit: The unit of the progress bar.
  ///   - noun: What is counted, in the singular.
  init(writesJSON: Bool, unit: String, noun: StaticString, diagnostics: Diagnostics) {
    self.writesJSON = writesJSON
    self.noun = noun
    self.diagnostics = diagnostics
    isTerminal = Terminal.isTerminal(diagnostics.descriptor)
    bar = ProgressBar("backfill", unit: .items(unit), diagnostics: diagnostics)
  }

  /// Sets how much was done before this process began.
  func begin(with done: Int64) {
    before = done
    records = done
    bar.begin(with: Int(done))
  }

  /// Sets how much is done, and how much there is in all if that is known.
  func update(done: Int64, of expected: Int64?) {
    records = done
    self.expected = expected.map { max($0, done) }
    bar.total = self.expected.map { Int($0) }
    bar.update(done: Int(done))
  }

  /// Sets how far the current part is.
  func update(part: Int64) {
    bar.update(done: Int(records &+ part))
  }

  /// Reports a finished part: as JSON on standard output, and as a message if there is no progress bar.
  func part(
    _ name: String, _ report: ImportReport, elapsed: Duration, members: (inout JSONWriter) -> Void
  ) throws {
    let text =
      "\(name): \(report.counts), in \(Readable.duration(elapsed))\(progress)"
    if isTerminal { diagnostics.verbose(text) } else { diagnostics.note(text) }
    guard writesJSON else { return }
    var json = JSONWriter()
    json.object { json in
      members(&json)
      json.member("import", report.id)
      report.writeCounts(to: &json)
      json.member("seconds", elapsed.inSeconds)
    }
    try write(json)
  }

  func end(
    _ backfill: Backfill, _ report: ImportReport, members: (inout JSONWriter) -> Void = { _ in }
  ) throws {
    bar.finish()
    let parameters = backfill.parameters
    guard writesJSON else {
      let elapsed = Readable.duration(MonotonicClock.now() - begun)
      try output.writeResult(
        PrintableText.line(
          "backfill \(backfill.id) of \(parameters.url) \(report.isComplete ? "is complete" : "is not complete"): "
            + "\(report.counts); \(Readable.count(records - before, noun)) in \(elapsed)"
        ), diagnostics)
      return try output.flush()
    }
    var json = JSONWriter()
    json.object { json in
      json.member("backfill", backfill.id)
      json.member("url", parameters.url)
      json.member("source", parameters.source)
      json.member("resumed", backfill.isResumed)
      members(&json)
      report.writeCounts(to: &json)
      json.member("complete", report.isComplete)
    }
    try write(json)
  }

  /// Removes the progress bar, before an error message.
  func stop() { bar.finish() }

  private func write(_ json: JSONWriter) throws {
    var json = json
    json.newline()
    try output.write(json.bytes)
    try output.flush()
  }

  /// `; 25,000 of 100,000 (25%), 1,234/s, 1m 02s left`.
  private var progress: String {
    guard let expected, expected > 0 else { return "" }
    var text =
      "; \(Readable.count(Int(records))) of \(Readable.count(Int(expected))) "
      + "(\(Int(Double(records) / Double(expected) * 100))%)"
    let rate = Double(records - before) / max((MonotonicClock.now() - begun).inSeconds, 0.001)
    if rate >= 1, records < expected {
      let left = min((Double(expected) - Double(records)) / rate, 1e9)
      text += ", \(Readable.count(Int(rate)))/s, \(Readable.duration(.seconds(left))) left"
    }
    return text
  }
}
