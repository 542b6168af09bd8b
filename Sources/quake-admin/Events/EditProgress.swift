import Basics
import CommandLine

/// The progress of a batch edit on standard error: a bar on a terminal, else a line every ten seconds.
final class EditProgress {
  private let label: String
  private let bar: ProgressBar
  private let diagnostics: Diagnostics
  private var done: Int64 = 0
  private var selected: Int64 = 0
  private var timer = PeriodicTimer(.seconds(10))

  init(_ label: String, _ diagnostics: Diagnostics) {
    self.label = label
    self.diagnostics = diagnostics
    bar = ProgressBar(label, unit: .items("events"), diagnostics: diagnostics)
  }

  func update(_ done: Int64, of selected: Int64) {
    self.done = done
    self.selected = selected
    bar.total = Int(selected)
    bar.update(done: Int(done))
    guard !Terminal.isTerminal(diagnostics.descriptor), timer.fireIfDue() else { return }
    diagnostics.note(
      "\(label): \(Readable.count(Int(done))) of \(Readable.count(selected, "event"))",
      fields: ["done": .integer(done), "selected": .integer(selected)])
  }

  func finish() { bar.finish() }

  /// Reports how much is done before the error that ended the edit.
  func fail() {
    bar.finish()
    guard done > 0 else { return }
    diagnostics.warning(
      "interrupted after \(Readable.count(Int(done))) of \(Readable.count(selected, "event"))",
      hint: "These are done. The same command does the rest.",
      fields: ["done": .integer(done), "selected": .integer(selected)])
  }
}
