import TestSupport
import Testing

/// The known bugs of such a feed, put in one at a time: each must be caught by the check that is there
/// for it, which finds nothing wrong without the bug.
///
/// Bugs in `quake-watch` need a build of it, which takes minutes, so they are tried by `make soak`. Otherwise only
/// their place in the sources is looked for.
@Suite(.serialized) struct MutationTests {
  private func database(_ mutations: SQLMutation...) throws -> TestDatabase {
    let database = try TestDatabase()
    for mutation in mutations { try mutation.apply(to: database) }
    return database
  }

  /// The same, with transactions that do not name their predecessors: else a watcher may end, because the chain of the
  /// history shows the wrong order.
  private func unchained(_ mutation: SQLMutation) throws -> TestDatabase {
    let database = try database(mutation)
    try database.connect().run(
      """
      create function public.forget() returns trigger language plpgsql as
      $$ begin new.predecessor := null; return new; end $$
      """,
      """
      create trigger forget before insert on quake.change_transaction
      for each row execute function public.forget()
      """)
    return database
  }

  @Test func aNumberDrawnAtTheFirstChangeIsCaught() throws {
    let violations = try LateCommitCheck.run(rounds: 10, in: unchained(.numberAtFirstChange))
    #expect(violations.kinds == [.lost], "\(violations)")
  }

  @Test func aMissingLockIsCaught() throws {
    let right = try OvertakingCheck.run(in: database(.stopAfterNumber))
    #expect(right.isEmpty, "\(right)")
    let wrong = try OvertakingCheck.run(in: database(.stopAfterNumber, .noLock))
    #expect(wrong.kinds == [.lost], "\(wrong)")
  }

  /// The same two by chance, as the stress test would see them.
  @Test(.enabled(if: Tools.isSoak, "make soak has it"))
  func theLoadCatchesWrongNumbersToo() throws {
    let right = try LoadCheck.run(changes: 5000, in: database())
    #expect(right.isEmpty, "\(right)")
    for mutation in [SQLMutation.numberAtFirstChange, .noLock] {
      // Chance may spare a run, hardly fifty.
      var found: Set<Violation.Kind> = []
      for _ in 1...50 where !found.contains(.lost) {
        found.formUnion(try LoadCheck.run(changes: 5000, in: unchained(mutation)).kinds)
      }
      #expect(found.contains(.lost), "\(mutation.name): \(found)")
    }
  }

  @Test func aNotificationSentTooEarlyIsCaught() throws {
    let right = try NotificationCheck.run(in: database(.stopBeforeCommit))
    #expect(right.isEmpty, "\(right)")
    let unnumbered = try NotificationCheck.run(
      in: database(.notificationBeforeNumber, .stopBeforeCommit))
    #expect(unnumbered.kinds == [.wrongNotification], "\(unnumbered)")
    let scratch = try database()
    try scratch.connect().run("create extension dblink schema public")
    try SQLMutation.notificationBeforeCommit(scratch.conninfo).apply(to: scratch)
    try SQLMutation.stopBeforeCommit.apply(to: scratch)
    let early = try NotificationCheck.run(in: scratch)
    #expect(early.kinds == [.earlyNotification, .wrongNotification], "\(early)")
  }

  @Test func aCursorStoredBeforeTheFlushIsCaught() throws {
    let right = try CursorCheck.run(tool: nil, in: database())
    #expect(right.isEmpty, "\(right)")
    try ToolMutation.cursorBeforeFlush.findPlaces()
    guard Tools.isSoak else { return }
    let mutant = try ToolMutation.cursorBeforeFlush.build()
    let wrong = try CursorCheck.run(tool: mutant, in: database())
    #expect(wrong.kinds == [.wrongCursor], "\(wrong)")
  }

  @Test func readingBeforeListeningIsCaught() throws {
    let right = try ListenCheck.run(tool: nil, in: database())
    #expect(right.isEmpty, "\(right)")
    try ToolMutation.readBeforeListen.findPlaces()
    guard Tools.isSoak else { return }
    let mutant = try ToolMutation.readBeforeListen.build()
    let wrong = try ListenCheck.run(tool: mutant, in: database())
    #expect(wrong.kinds == [.late], "\(wrong)")
  }

  @Test func passingAGapIsCaught() throws {
    let right = try GapCheck.run(tool: nil, in: database())
    #expect(right.isEmpty, "\(right)")
    try ToolMutation.gapNotNoticed.findPlaces()
    guard Tools.isSoak else { return }
    let mutant = try ToolMutation.gapNotNoticed.build()
    let wrong = try GapCheck.run(tool: mutant, in: database())
    #expect(wrong.kinds == [.lost], "\(wrong)")
  }
}
