import Postgres
import QuakeModel
import TestSupport
import Testing

@Suite struct FirstStoredTests {
  @Test(arguments: EditScene.Way.allCases)
  func theTimeOfFirstStorageIsKeptByUpdatesImportsAndTheHistory(way: EditScene.Way) throws {
    let scene = try EditScene()
    let begun = try scene.connection.ask("select clock_timestamp()")
    try scene.load([EventRecord("us1"), EventRecord("us2")], way)
    func times() throws -> [String] {
      try scene.connection.table("select first_stored from quake.quake order by code")
    }
    let first = try times()
    #expect(
      try scene.connection.ask(
        "select bool_and(first_stored between $1::timestamptz and now()) from quake.quake",
        [.text(begun)]) == "t")
    try scene.load(
      [EventRecord("us1", magnitude: 6), EventRecord("us2")], generated: "2026-01-02T00:00:00Z", way
    )
    #expect(try times() == first)
    let error = try #require(throws: PostgresError.self) {
      try scene.connection.run("update quake.quake set first_stored = now() where code = 'us1'")
    }
    #expect(error.sqlState == "23000")
    // An update that gives it the value that it has is none.
    try scene.connection.run("update quake.quake set first_stored = first_stored")
    #expect(
      try scene.connection.table(
        "select first_stored from quake.as_of(quake.latest_token()) order by code") == first)
    #expect(
      try scene.connection.table("select distinct first_stored from quake.quake_version")
        == [first[0]])
    #expect(try scene.historyAgrees())
  }

  @Test func theTimeOfFirstStorageOfOldEventsComesFromTheHistory() throws {
    let database = try TestDatabase.empty()
    let connection = try database.connect()
    try connection.migrate(upTo: 6)
    try connection.run(
      "insert into quake.quake (code, time) values ('e1', now()), ('e2', now()), ('e3', now())",
      "update quake.quake set magnitude = 5", "delete from quake.quake where code = 'e2'",
      "insert into quake.quake (code, time) values ('e2', now())")
    let versions = try connection.ask("select count(*) from quake.quake_version")
    try connection.migrate()
    #expect(
      try connection.table(
        """
        select q.code, t.token from quake.quake q join quake.change_transaction t on t.at = q.first_stored
         order by q.code
        """) == ["e1|1", "e2|4", "e3|1"])
    #expect(try connection.ask("select count(*) from quake.quake_version") == versions)
    // The history still records.
    try connection.run("update quake.quake set magnitude = 6 where code = 'e1'")
    #expect(
      try connection.ask(
        """
        select v.first_stored = q.first_stored from quake.quake_version v join quake.quake q using (code)
         where v.code = 'e1' order by v.id desc limit 1
        """) == "t")
  }
}
