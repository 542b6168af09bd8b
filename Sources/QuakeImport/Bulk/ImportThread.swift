internal import Basics
internal import Postgres
internal import QuakeModel

/// A connection with a thread of its own, which does one piece of work at a time while its owner does
/// something else.
///
/// It is a thread and not a task because libpq blocks, and because the tools do not link Swift's concurrency
/// runtime.
///
/// `@unchecked Sendable`: the work, its outcome, and the objects that it uses (the connection, a batch) are used by the
/// thread alone from `start` to the end of the work, and by the owner's thread at other times; the two events order the
/// two.
final class ImportThread: @unchecked Sendable {
  let connection: Connection
  /// The work from `start` to `finish`.
  private var work: (() throws -> ImportReport)?
  private var outcome: Result<ImportReport, any Error>?
  private let begun: WakeEvent
  private let done: WakeEvent

  init(_ connection: Connection) throws {
    self.connection = connection
    begun = try WakeEvent()
    done = try WakeEvent()
    try DetachedThread.start { self.run() }
  }

  /// Runs `body` on the thread. The work before must be finished.
  func start(_ body: @escaping () throws -> ImportReport) {
    precondition(work == nil, "an import thread does one piece of work at a time")
    work = body
    begun.raise()
  }

  /// Waits for the work, at most for the given time. Returns whether it is done.
  func isDone(within milliseconds: Int) -> Bool {
    work == nil || done.wait(for: .milliseconds(milliseconds))
  }

  /// Waits until the work is done, if there is any. Returns its result, or throws its error.
  func finish() throws -> ImportReport? {
    guard work != nil else { return nil }
    _ = done.wait(for: nil)
    done.lower()
    defer { (work, outcome) = (nil, nil) }
    return try outcome?.get()
  }

  /// Ends the thread after the present work. To be called once.
  func close() {
    _ = try? finish()
    begun.raise()
  }

  private func run() {
    while true {
      _ = begun.wait(for: nil)
      begun.lower()
      guard let work else { return }
      outcome = Result { try work() }
      done.raise()
    }
  }
}
