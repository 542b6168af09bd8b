public import QuakeQuery

/// Batch edits. Each call has a connection of its own, and runs on a thread of its own. If the calling task is
/// cancelled, the transaction in progress is rolled back; those before stay, and the same edit with the same
/// title does the rest.
extension QuakeDatabase {
  /// Computes the effects of an edit without making it.
  ///
  /// - Parameter sample: The most events to return.
  public func plan(_ edit: EventEdit, sample: Int = 10) async throws -> EditPlan {
    try await withConnection { try BatchEdit(edit, over: $0).plan(sample: sample) }
  }

  /// Makes an edit.
  ///
  /// - Parameter progress: Is called after each transaction, with the number of events that are done and of
  ///   all that were selected.
  public func apply(
    _ edit: EventEdit,
    progress: @escaping @Sendable (_ done: Int64, _ selected: Int64) -> Void = { _, _ in }
  ) async throws -> EditOutcome {
    try await withConnection { try BatchEdit(edit, over: $0).run(progress: progress) }
  }

  /// Computes the effects of a restore without making it, and the later changes that are in its way.
  ///
  /// - Parameter sample: The most codes to return.
  public func plan(_ restore: EventRestore, sample: Int = 10) async throws -> RestorePlan {
    try await withConnection { try BatchRestore(restore, over: $0).plan(sample: sample) }
  }

  /// Restores deleted events, or undoes transactions or an edit. Events that were changed since stay as they
  /// are unless the restore is forced; the outcome lists them.
  ///
  /// - Parameter progress: Is called after each transaction, with the number of events that are done and of
  ///   all.
  public func apply(
    _ restore: EventRestore,
    progress: @escaping @Sendable (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
  ) async throws -> EditOutcome {
    try await withConnection { try BatchRestore(restore, over: $0).run(progress: progress) }
  }
}
