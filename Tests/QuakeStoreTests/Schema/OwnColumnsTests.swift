import Postgres
import QuakeModel
import QuakeQuery
import TestSupport
import Testing

@testable import QuakeHistory

@Suite final class OwnColumnsTests: DatabaseSuite {
  override init() throws {
    try super.init()
    try connection.insertQuakes("before")
    try connection.run(
      """
      alter table quake.quake
        add column dropped integer default 7,
        -- Names that the store's own statements use for something else.
        add column n integer, add column p_id text, add column q text, add column v text,
        add column c text, add column o text, add column t text, add column row text,
        add column note text not null default 'mine',
        add column geom point generated always as (point(longitude, latitude)) stored
      """,
      "alter table quake.quake drop column dropped")
  }

  @Test func aColumnOfOnesOwnMayHaveAnyName() throws {
    try connection.run("update quake.quake set magnitude = 6, n = 1, p_id = 'x'")
    #expect(try connection.table("select code, n from quake.find('before')") == ["before|1"])
    #expect(
      try connection.table("select op, changed from quake.versions('before')")
        == ["insert|{}", "update|{magnitude}"])
  }

  @Test func theHistoryIsReadBesideColumnsOfOnesOwn() throws {
    let start = try connection.latestToken()
    try connection.insertQuakes("a", "b")
    let middle = try connection.latestToken()
    try connection.run(
      "update quake.quake set magnitude = 6, longitude = 10, latitude = 20 where code = 'a'",
      "delete from quake.quake where code = 'b'")
    let end = try connection.latestToken()

    for source in ["quake.as_of('\(middle)')", "quake.as_of(now())"] {
      #expect(try connection.ask("select count(*) from \(source)") != nil)
    }
    #expect(
      try connection.table("select code, magnitude from quake.as_of('\(middle)') order by code")
        == ["a|5", "b|5", "before|5"])
    #expect(
      try connection.table(
        "select op, code, (old).magnitude, (new).magnitude from quake.difference('\(middle)', '\(end)')"
      )
        == ["update|a|5|6", "delete|b|5|"])
    #expect(
      try connection.table("select op, (event).magnitude from quake.versions('a')")
        == ["insert|5", "update|6"])
    #expect(
      try connection.table(
        "select op, code, (new).magnitude, changed from quake.changes_since('\(start)')")
        == [
          "insert|a|5|{}", "insert|b|5|{}", "update|a|6|{magnitude,longitude,latitude}",
          "delete|b||{}",
        ])

    // And the library, which quake-query and quake-watch use.
    var list: [String?] = []
    var query = EventQuery()
    query.asOf = .token(middle)
    try query.read(over: connection) { list.append($0.text(.code)) }
    #expect(list.compactMap { $0 }.sorted() == ["a", "b", "before"])
    #expect(try EventQuery().count(over: connection) == 2)
    var operations: [ChangeOperation] = []
    try EventHistory(connection: connection).versions(of: "a") { operations.append($0.op) }
    #expect(operations == [.insert, .update])
    var reader = try HistoryReader(connection: connection, after: start)
    var codes: [String?] = []
    _ = try reader.readPage { codes.append($0.code) }
    #expect(codes == ["a", "b", "a", "b"])
    #expect(try connection.ask("select note from quake.find('a')") == "mine")
  }

  @Test func columnsOfOnesOwnAreNotInTheHistory() throws {
    try connection.insertQuakes("a")
    try connection.run("update quake.quake set note = 'checked' where code = 'a'")
    let token = try connection.latestToken()
    try connection.run("update quake.quake set note = 'again' where code = 'a'")
    #expect(try connection.latestToken() == token)
    try connection.run("update quake.quake set felt = 3, note = 'third' where code = 'a'")
    #expect(
      try connection.table("select changed from quake.changes_since('\(token)')") == ["{felt}"])
    #expect(try connection.ask("select note from quake.quake where code = 'a'") == "third")
  }
}
