import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import TestSupport
import Testing

@Suite struct RestoreTests {
  private let scene: EditScene

  init() throws {
    scene = try EditScene()
  }

  private func fill() throws {
    try scene.connection.run(
      """
      insert into quake.quake (code, time, magnitude, place, validated, ids, as_of)
      select 'e' || i, '2026-01-01Z'::timestamptz + i * interval '1 hour', i, 'place ' || i, i % 2 = 0, ',e' || i || ',',
             '2026-01-02Z'
        from generate_series(1, 9) i
      """)
  }

  private func token(_ statements: String...) throws -> ChangeToken {
    try scene.connection.transaction {
      for statement in statements { try scene.connection.execute(SQL(trusted: statement)) }
    }
    return try scene.latest()
  }

  @Test func restoringUndoesExactlyOneTransaction() throws {
    try fill()
    let before = try scene.events()
    let undone = try token(
      "insert into quake.quake (code, time) values ('n1', now()), ('n2', now())",
      "update quake.quake set magnitude = magnitude + 1, place = null where code in ('e1', 'e2')",
      "delete from quake.quake where code in ('e3', 'e4')",
      "update quake.quake set validated = not validated where code = 'e2'",
      "update quake.quake set place = 'first' where code = 'n2'",
      "insert into quake.quake (code, time) values ('n3', now())",
      "delete from quake.quake where code in ('n3', 'e2')")
    // Later changes of other events, and of other columns, are not in the way and stay.
    _ = try token("update quake.quake set magnitude = 8.5 where code = 'e5'")
    _ = try token("update quake.quake set depth = 3 where code = 'e1'")
    let plan = try scene.restoring(.transactions([undone])).plan()
    #expect(plan.conflictCount == 0)
    #expect(plan.inserted == 3)
    #expect(plan.updated == 1)
    #expect(plan.deleted == 2)
    #expect(plan.unchanged == 1)
    let outcome = try scene.restore(.transactions([undone]))
    #expect(outcome.changed == 6)
    _ = try token("update quake.quake set magnitude = 5 where code = 'e5'")
    _ = try token("update quake.quake set depth = null where code = 'e1'")
    #expect(try scene.events() == before)
    #expect(try scene.historyAgrees())
    // The inserted events stay deleted.
    #expect(try scene.tombstones() == ["n1|undone|ann", "n2|undone|ann"])
    // The same again does nothing.
    let latest = try scene.latest()
    #expect(try scene.restoring(.transactions([undone])).plan().count == 0)
    #expect(try scene.latest() == latest)
  }

  @Test(arguments: Seeds.first(1, of: 1...8))
  func restoringUndoesTheLastTransactionsOfAnyHistory(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    for _ in 0..<12 {
      try RandomHistory(scene.connection).write(4, using: &generator)
      let tokens = try scene.database.tokens()
      let count = Int.random(in: 1...3, using: &generator)
      let undone = tokens.suffix(count).compactMap { ChangeToken($0) }
      let truncated = try scene.connection.ask(
        "select sum(truncated) > 0 from quake.change_transaction where token >= $1",
        [.integer(undone.first?.number)])
      guard truncated == "f", let earlier = tokens.dropLast(count).last else { continue }
      let outcome = try scene.restore(.transactions(undone))
      #expect(outcome.conflictCount == 0)
      #expect(
        try scene.connection.table(
          "select * from quake.difference($1, quake.latest_token())", [.text(earlier)])
          == [])
      #expect(try scene.historyAgrees())
      #expect(try scene.restoring(.transactions(undone)).plan().count == 0)
    }
  }

  @Test func restoringListsLaterChangesAndOverwritesThemByForceOnly() throws {
    try fill()
    let before = try scene.events()
    let undone = try token(
      "update quake.quake set magnitude = 9, depth = 1 where code in ('e1', 'e2', 'e3')",
      "delete from quake.quake where code in ('e4', 'e5', 'e6')",
      "insert into quake.quake (code, time) values ('n1', now()), ('n2', now())")
    let later = try token(
      "set local quake.author = 'bob'", "update quake.quake set magnitude = 7 where code = 'e2'")
    let gone = try token("delete from quake.quake where code = 'e3'")
    let back = try token("insert into quake.quake (code, time) values ('e4', now()), ('e5', now())")
    _ = try token("delete from quake.quake where code = 'e5'")
    _ = try token("update quake.quake set place = 'here' where code = 'n1'")
    let plan = try scene.restoring(.transactions([undone])).plan()
    #expect(plan.conflicts.map(\.code) == ["e2", "e3", "e4", "e5", "n1"])
    #expect(plan.conflicts[0].transaction == later)
    #expect(plan.conflicts[0].author == "bob")
    #expect(plan.conflicts[0].operation == .update)
    #expect(plan.conflicts[1].transaction == gone)
    #expect(plan.conflicts[2].transaction == back)
    #expect(plan.count == 3)
    let outcome = try scene.restore(.transactions([undone]), force: true)
    #expect(outcome.conflictCount == 0)
    // e3 was deleted later, which was not undone.
    #expect(try scene.events() == before.filter { !$0.hasPrefix("e3|") })
    #expect(try scene.historyAgrees())
  }

  @Test func whatOthersChangedBetweenTwoUndoneTransactionsIsInTheWay() throws {
    try fill()
    let first = try token("update quake.quake set magnitude = 9 where code < 'e6'")
    let other = try token("update quake.quake set place = 'here' where code = 'e1'")
    _ = try token("delete from quake.quake where code = 'e3'")
    _ = try token("insert into quake.quake (code, time) values ('e3', now())")
    let last = try token(
      "update quake.quake set depth = 1 where code < 'e4'",
      "delete from quake.quake where code = 'e4'")
    let before = try scene.events()
    let undo = EventRestore.Source.transactions([last, first])
    let plan = try scene.restoring(undo).plan()
    #expect(plan.conflicts.map(\.code) == ["e1", "e3"])
    #expect(plan.conflicts[0].transaction == other)
    #expect(plan.count == 3)
    // One after the other, the later one first, they can be undone for all but e3.
    #expect(try scene.restore(.transactions([last])).conflictCount == 0)
    #expect(try scene.restoring(.transactions([first])).plan().conflicts.map(\.code) == ["e3"])
    #expect(try scene.restore(.transactions([first])).changed == 4)
    #expect(
      try scene.connection.table("select place, depth is null from quake.quake where code = 'e1'")
        == ["here|t"])
    #expect(try scene.events() != before)
    #expect(try scene.historyAgrees())
  }

  @Test func anEventThatWasStoredAnewIsInTheWay() throws {
    try fill()
    let undone = try token(
      "update quake.quake set magnitude = 9 where code = 'e1'",
      "insert into quake.quake (code, time, magnitude) values ('n1', '2026-01-01Z', 1)")
    _ = try token("delete from quake.quake where code in ('e1', 'n1')")
    let anew = try token(
      """
      insert into quake.quake (code, time, magnitude)
      values ('e1', '2026-01-01Z', 9), ('n1', '2026-01-01Z', 1)
      """)
    let plan = try scene.restoring(.transactions([undone])).plan()
    #expect(plan.conflicts.map(\.code) == ["e1", "n1"])
    #expect(plan.conflicts.map(\.transaction) == [anew, anew])
  }

  @Test func anUndoCanBeUndone() throws {
    try fill()
    let before = try scene.events()
    let deleted = try #require(try scene.edit(.delete, codes: ["e1", "e2"]).first)
    let without = try scene.events()
    let restored = try #require(try scene.restore(.transactions([deleted])).first)
    #expect(try scene.events() == before)
    #expect(try scene.restore(.transactions([restored])).changed == 2)
    #expect(try scene.events() == without)
    #expect(try scene.tombstones() == ["e1|undone|ann", "e2|undone|ann"])
    try scene.load([EventRecord("e1"), EventRecord("e2")])
    #expect(try scene.events() == without)
    #expect(try scene.restore(codes: ["e1", "e2"]).changed == 2)
    #expect(try scene.events() == before)
  }

  @Test func restoringSaysWhenItsHistoryWasPurged() throws {
    try fill()
    let deleted = try #require(try scene.edit(.delete, codes: ["e1"]).first)
    let id = try #require(try scene.edit(.delete, codes: ["e2"]).edit)
    let last = try token("update quake.quake set magnitude = 8 where code = 'e3'")
    _ = try Retention(connection: scene.connection).purge(before: .token(last))
    for source in [EventRestore.Source.transactions([deleted]), .transactions([last]), .edit(id)] {
      let error = try #require(throws: StoreError.self) { try scene.restoring(source).plan() }
      #expect(error.kind == .token(.expired))
      #expect(error.message.hasPrefix("cannot undo"))
      #expect(error.message.contains("purged"))
    }
    var one = EventSelection()
    one.filter.codes = ["e1"]
    #expect(try scene.restoring(.events(one)).plan().lost == 1)
    #expect(try scene.restore(.events(one)).lost == 1)
    #expect(try scene.load([EventRecord("e1")]).inserted == 0)
    // By force the event is forgotten, so that a feed may store it anew.
    #expect(try scene.restore(.events(one), force: true).tombstonesRemoved == 1)
    #expect(try scene.restore(.events(one), force: true).tombstonesRemoved == 0)
    #expect(try scene.load([EventRecord("e1")], generated: "2026-01-03T00:00:00Z").inserted == 1)
    // What is left of the history restores the rest.
    let other = try #require(try scene.edit(.delete, codes: ["e4"]).first)
    #expect(try scene.restore(.transactions([other])).changed == 1)
  }

  @Test func restoringRefusesTruncatesAndTokensOfNoTransaction() throws {
    try fill()
    for text in ["1.00000000", "99.01234567"] {
      let token = try #require(ChangeToken(text))
      #expect(throws: StoreError.self) { try scene.restoring(.transactions([token])).plan() }
    }
    #expect(throws: StoreError.self) { try scene.restoring(.edit(5)).plan() }
    let truncated = try token("truncate quake.quake")
    let error = try #require(throws: StoreError.self) {
      try scene.restoring(.transactions([truncated])).plan()
    }
    #expect(error.kind == .badData)
  }

  @Test func deletedEventsAreSelectedByTheirFormerColumns() throws {
    try fill()
    let before = try scene.events()
    try scene.edit(.delete)
    var strong = EventSelection()
    strong.filter.minimumMagnitude = 7
    #expect(try scene.restore(.events(strong)).changed == 3)
    #expect(try scene.codes() == ["e7", "e8", "e9"])
    #expect(try scene.restore(.events(EventSelection())).changed == 6)
    #expect(try scene.events() == before)
    // Also events that psql deleted, if they are named.
    _ = try token("delete from quake.quake where code = 'e1'")
    #expect(try scene.restore(codes: ["e1", "unknown"]).lost == 1)
    #expect(try scene.events() == before)
  }

  private func successors() throws -> [String] {
    try scene.connection.table(
      "select code, coalesce(superseded_by, '-') from quake.quake order by code")
  }

  private func load(_ code: String, ids: String, day: Int, magnitude: Double) throws {
    try scene.load(
      [EventRecord(code, magnitude: magnitude, ids: ids)],
      generated: "2026-01-0\(day)T00:00:00Z")
  }

  @Test func anUndoneSwitchOfThePreferredIDIsMadeAgainByTheNextSnapshot() throws {
    try load("ci1", ids: ",ci1,", day: 1, magnitude: 1)
    try load("us1", ids: ",ci1,us1,", day: 2, magnitude: 2)
    try load("ci1", ids: ",ci1,us1,", day: 3, magnitude: 3)
    #expect(try successors() == ["ci1|-", "us1|ci1"])
    for day in [4, 5] {
      let back = try scene.latest()
      #expect(try scene.restore(.transactions([back])).changed == 2)
      #expect(try successors() == ["ci1|us1", "us1|-"])
      #expect(try scene.connection.table("select id, code from quake.quake_alias") == ["ci1|us1"])
      try load("ci1", ids: ",ci1,us1,", day: day, magnitude: Double(day))
      #expect(try successors() == ["ci1|-", "us1|ci1"])
      #expect(try scene.connection.table("select id, code from quake.quake_alias") == ["us1|ci1"])
    }
    #expect(try scene.historyAgrees())
  }

  @Test func anEventWhoseSuccessorIsGoneAfterAnUndoIsOneOfItsOwn() throws {
    try load("us1", ids: ",ci1,us1,", day: 1, magnitude: 1)
    let first = try scene.latest()
    try scene.load(
      [EventRecord("ci1", ids: ",ci1,"), EventRecord("us1", magnitude: 1, ids: ",ci1,us1,")],
      generated: "2026-01-02T00:00:00Z")
    try load("us1", ids: ",ci1,us1,", day: 3, magnitude: 1)
    #expect(try successors() == ["ci1|us1", "us1|-"])
    #expect(try scene.restore(.transactions([first])).changed == 1)
    #expect(try successors() == ["ci1|-"])
    #expect(try scene.historyAgrees())
  }

  @Test func aSuccessorThatAPersonHasSetStaysAfterAnUndo() throws {
    try load("ci1", ids: ",ci1,us1,", day: 1, magnitude: 1)
    try scene.load([EventRecord("x", ids: ",x,")], generated: "2026-01-02T00:00:00Z")
    try scene.connection.execute("update quake.quake set superseded_by = 'x' where code = 'ci1'")
    // The mark is copied to the new preferred id.
    try load("us1", ids: ",ci1,us1,", day: 3, magnitude: 2)
    #expect(try successors() == ["ci1|x", "us1|x", "x|-"])
    let deleted = try #require(try scene.edit(.delete, codes: ["us1", "ci1"]).first)
    #expect(try scene.restore(.transactions([deleted])).changed == 2)
    try load("us1", ids: ",ci1,us1,", day: 4, magnitude: 3)
    try load("ci1", ids: ",ci1,us1,", day: 5, magnitude: 4)
    #expect(try successors() == ["ci1|x", "us1|x", "x|-"])
  }
}
