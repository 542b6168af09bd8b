internal import Basics
package import CommandLine
package import QuakeSchema

/// Reports how far a migration in batches is, every few seconds.
package final class MigrationProgress {
  private let diagnostics: Diagnostics
  private var next = Deadline(after: interval)

  private static let interval = Duration.seconds(5)

  package init(_ diagnostics: Diagnostics) { self.diagnostics = diagnostics }

  /// Reports a step.
  package func report(_ step: Migrator.Step) {
    guard case .filled(let entry, let rows) = step, next.hasPassed else { return }
    diagnostics.note(
      "migration \(entry.version) (\(entry.name)): \(Readable.count(rows, "row")) so far")
    next = Deadline(after: Self.interval)
  }
}
