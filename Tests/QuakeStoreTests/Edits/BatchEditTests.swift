import Postgres
import QuakeModel
import QuakeQuery
import TestSupport
import Testing

@Suite struct BatchEditTests {
  private let scene: EditScene

  init() throws {
    scene = try EditScene()
  }

  /// Inserts events of magnitude 0 to 9, an hour apart.
  private func fill(_ count: Int) throws {
    try scene.connection.execute(
      """
      insert into quake.quake (code, time, magnitude, place, source)
      select 'e' || i, now() - interval '1 day' - i * interval '1 hour', i % 10, 'place ' || i, 'usgs'
        from generate_series(1, $1::int) i
      """, [.integer(Int64(count))])
  }

  private func count(_ condition: String) throws -> Int {
    Int(try scene.connection.ask("select count(*) from quake.quake where \(condition)") ?? "") ?? -1
  }

  @Test func aBatchEditChangesTheSelectedEventsWithAuthorAndContext() throws {
    try fill(100)
    var strong = EventFilter()
    strong.minimumMagnitude = 8
    let edit = EventEdit(.validate, of: EventSelection(strong), by: scene.author)
    let batch = BatchEdit(edit, over: scene.connection)
    let plan = try batch.plan(sample: 3)
    #expect(plan.count == 20)
    #expect(plan.sample.map { $0.text(.code) } == ["e99", "e98", "e89"])
    #expect(try count("validated") == 0)
    let outcome = try batch.run()
    #expect(outcome.changed == 20)
    #expect(outcome.isFinished)
    #expect(try count("validated and magnitude >= 8") == 20)
    #expect(try count("validated") == 20)
    #expect(outcome.transactions == 1)
    let token = try #require(outcome.first)
    #expect(outcome.last == token)
    #expect(
      try scene.connection.table(
        "select author, context, updated from quake.change_transaction where token = $1",
        [.integer(token.number)]) == ["ann|tidy|20"])
    // Nothing is left to do, and nothing is written.
    let again = try batch.run()
    #expect(again.changed == 0)
    #expect(again.edit == nil)
    #expect(try scene.latest() == token)
    #expect(try scene.edit(.unvalidate).changed == 20)
    #expect(
      try scene.connection.table(
        "select action, selection, finished_at is not null from quake.edit")
        == ["validate||t", "unvalidate||t"])
  }

  @Test func aBatchEditSetsColumnsAndSkipsEventsThatHaveTheValues() throws {
    try fill(20)
    let assignments = [
      try EventAssignment(.type, text: "quarry blast"), try EventAssignment(.place, text: ""),
      try EventAssignment(.depth, text: "-1.5"), try EventAssignment(.felt, text: "7"),
      try EventAssignment(.withdrawnAt, text: "2026-01-31T12:00:00Z"),
    ]
    #expect(try scene.edit(.set(assignments), codes: ["e3", "e4"]).changed == 2)
    #expect(
      try scene.connection.table(
        """
        select code, type, place is null, depth, felt, withdrawn_at = '2026-01-31T12:00:00Z'
          from quake.quake where type is not null order by code
        """) == ["e3|quarry blast|t|-1.5|7|t", "e4|quarry blast|t|-1.5|7|t"])
    #expect(try scene.edit(.set(assignments), codes: ["e3", "e4", "e5"]).changed == 1)
  }

  @Test func aBatchEditRefusesValuesThatAColumnCannotHold() throws {
    for (name, text) in [
      ("code", "us1"), ("as_of", "2026-01-01"), ("first_stored", "2026-01-01"),
      ("magnitude", "13"), ("magnitude", "nan"), ("magnitude", "0x5"), ("magnitude", "five"),
      ("latitude", "91"), ("depth", "7001"), ("felt", "3000000000"), ("felt", "1.5"),
      ("tsunami", "40000"), ("time", ""), ("time", "yesterday"), ("source", ""),
      ("validated", "maybe"), ("net", String(repeating: "n", count: 1025)), ("place", "a\0b"),
    ] {
      let column = try #require(EventColumn(name: name))
      #expect(throws: StoreError.self, "\(name) = \(text)") {
        try EventAssignment(column, text: text)
      }
    }
  }

  @Test func aBatchEditAcceptsWhatTheTableAcceptsAtItsLimits() throws {
    try fill(1)
    for (column, text) in [
      (EventColumn.magnitude, "12"), (.magnitude, "-10"), (.depth, "7000"), (.felt, "-2147483648"),
      (.tsunami, "32767"), (.time, "0001-01-01T00:00:00Z"),
      (.time, "9999-12-31T23:59:59.999999Z"),
      (.place, String(repeating: "p", count: 65_536)), (.net, String(repeating: "n", count: 1024)),
      (.cdi, "1e300"), (.validated, "yes"),
    ] {
      #expect(try scene.edit(.set([EventAssignment(column, text: text)])).changed == 1)
    }
  }

  @Test func aBatchEditOfManyTransactionsContinuesAfterAnInterruption() throws {
    try fill(5000)
    let before = try scene.events()
    let first = try scene.edit(.delete, title: "all", stopAfter: 1)
    #expect(!first.isFinished)
    #expect((1..<5000).contains(first.changed))
    #expect(try count("true") == 5000 - Int(first.changed))
    // Another edit is another one.
    let other = try scene.edit(.validate, codes: ["e1"], title: "one")
    #expect(other.edit != first.edit)
    let second = try scene.edit(.delete, title: "all")
    #expect(second.edit == first.edit)
    #expect(second.changedBefore == first.changed)
    #expect(second.changed == 5000 - first.changed)
    #expect(second.isFinished)
    #expect(second.transactions > 1)
    #expect(try scene.codes() == [])
    let id = try #require(second.edit)
    // e1 was validated, if it was still there.
    let outcome = try scene.restore(.edit(id))
    #expect(outcome.changed == 5000)
    #expect(outcome.transactions > 1)
    try scene.edit(.unvalidate)
    #expect(try scene.events() == before)
    #expect(try scene.historyAgrees())
    // A finished edit is not continued.
    #expect(try scene.edit(.delete, title: "all", limit: 10).edit != id)
  }

  @Test func aLimitedBatchEditTakesTheOldestEventsFirst() throws {
    try fill(6000)
    let age = Duration.seconds(86_400)
    let action = EditAction.expire(olderThan: age, forever: false)
    let first = try scene.edit(action, title: "expire", limit: 4000, stopAfter: 1)
    #expect(!first.isFinished)
    let second = try scene.edit(action, title: "expire", limit: 4000)
    #expect(first.changed + second.changed == 4000)
    #expect(try count("true") == 2000)
    #expect(try count("code in ('e2000', 'e1')") == 2)
    #expect(try count("code in ('e2001', 'e6000')") == 0)
  }

  @Test func aBatchEditComesBackToLockedEvents() throws {
    try fill(50)
    let other = try scene.database.connect()
    try other.begin()
    try other.run("update quake.quake set place = 'elsewhere' where code in ('e7', 'e9')")
    let database = scene.database
    let author = scene.author
    let deleting = BackgroundThread {
      let connection = try database.connect(applicationName: "deleter")
      let outcome = try BatchEdit(
        EventEdit(.delete, of: EventSelection(), by: author), over: connection
      ).run()
      #expect(outcome.changed == 50)
    }
    #expect(try scene.connection.eventually("(select count(*) from quake.quake) = 2"))
    try other.commit()
    try deleting.join()
    #expect(try scene.codes() == [])
  }

  @Test func aBatchEditLeavesSupersededAndWithdrawnEventsAlone() throws {
    try fill(4)
    try scene.connection.run(
      "update quake.quake set superseded_by = 'e1' where code = 'e2'",
      "update quake.quake set withdrawn_at = now() where code = 'e3'")
    #expect(try scene.edit(.validate).changed == 2)
    #expect(try scene.edit(.validate, codes: ["e2"]).changed == 1)
    var all = EventSelection()
    all.includesWithdrawn = true
    all.includesSuperseded = true
    let rest = EventEdit(.validate, of: all, by: scene.author)
    #expect(try BatchEdit(rest, over: scene.connection).run().changed == 1)
  }
}
