import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory

@Suite final class HistorySQLTests: DatabaseSuite {
  /// The net difference from two whole states, and what the function says.
  private func check(from: String, to: String) throws -> Int {
    let parameters = [Parameter.text(from), .text(to)]
    let expected = try connection.table(
      """
      select case when o.code is null then 'insert' when n.code is null then 'delete' else 'update' end,
             coalesce(o.code, n.code), o, n
        from quake.as_of($1) o full join quake.as_of($2) n using (code)
       where o is distinct from n
       order by coalesce(o.code, n.code) collate "C"
      """, parameters)
    let actual = try connection.table(
      "select op, code, old, new from quake.difference($1, $2)", parameters)
    #expect(actual == expected, "from \(from) to \(to)")
    // The names of the columns, by another way.
    let changed = try connection.table(
      """
      select d.code, d.changed,
             coalesce((select array_agg(o.key order by o.key) from jsonb_each(to_jsonb(d.old)) o
                        where d.op = 'update' and o.value is distinct from to_jsonb(d.new) -> o.key),
                      '{}')
        from quake.difference($1, $2) d
       where (select coalesce(array_agg(c order by c), '{}') from unnest(d.changed) c)
             is distinct from
             coalesce((select array_agg(o.key order by o.key) from jsonb_each(to_jsonb(d.old)) o
                        where d.op = 'update' and o.value is distinct from to_jsonb(d.new) -> o.key),
                      '{}')
      """, parameters)
    #expect(changed == [], "from \(from) to \(to)")
    return actual.count
  }

  @Test(arguments: Seeds.first(1, of: 1...3))
  func sqlGivesTheNetDifferenceBetweenAnyTwoTokens(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    try RandomHistory(connection).write(50, using: &generator)
    var all = ["0"] + (try database.tokens())
    var found = 0
    for _ in 0..<40 {
      let from = try #require(all.randomElement(using: &generator))
      let to = try #require(all.randomElement(using: &generator))
      found += try check(from: from, to: to)
    }
    #expect(found > 40)
    // What is left after a purge.
    let floor = try #require(all.dropFirst().prefix(30).randomElement(using: &generator))
    let token = try #require(ChangeToken(floor))
    _ = try Retention(connection: connection).purge(before: .token(token))
    all.removeAll { ChangeToken($0)?.number ?? 0 < token.number }
    for to in all {
      _ = try check(from: floor, to: to)
      _ = try check(from: to, to: floor)
    }
  }

  @Test func sqlRefusesTokensOfAnotherHistory() throws {
    try connection.insertQuakes("a", "b")
    let good = try connection.latestToken().description
    for (token, state) in [
      ("x", "QK001"), ("1.00000000", "QK003"), ("9.00000000", "QK004"),
    ] {
      for parameters in [[token, good], [good, token], [token, token]] {
        let error = try #require(throws: PostgresError.self) {
          try connection.execute(
            "select * from quake.difference($1, $2)", parameters.map { .text($0) })
        }
        #expect(error.sqlState == state)
      }
    }
    try connection.run("truncate quake.history_floor")
    try connection.run("insert into quake.history_floor (token) values (2)")
    let error = try #require(throws: PostgresError.self) {
      try connection.execute("select * from quake.difference('0', $1)", [.text(good)])
    }
    #expect(error.sqlState == "QK002")
  }

  @Test func sqlGivesTheStateAtATime() throws {
    try connection.insertQuakes("a", "b")
    try connection.run("delete from quake.quake where code = 'a'")
    try connection.run(
      """
      update quake.change_transaction
         set at = '2024-01-01T00:00:00Z'::timestamptz + token * interval '1 minute'
      """)
    for (time, codes) in [
      ("2023-12-31T00:00:00Z", []), ("2024-01-01T00:01:00Z", ["a"]),
      ("2024-01-01T00:02:30Z", ["a", "b"]), ("2024-01-01T00:03:00Z", ["b"]), ("infinity", ["b"]),
    ] {
      #expect(
        try connection.table(
          "select code from quake.as_of($1::timestamptz) order by 1", [.text(time)]) == codes,
        "\(time)")
    }
    _ = try Retention(connection: connection).purge(
      before: .token(try #require(ChangeToken(try database.tokens()[1]))))
    let error = try #require(throws: PostgresError.self) {
      try connection.execute("select * from quake.as_of('2024-01-01T00:01:00Z'::timestamptz)")
    }
    #expect(error.sqlState == "QK002")
  }

  @Test func sqlGivesTheVersionsOfAnEventWithTheirAuthors() throws {
    let writer = try database.connect(applicationName: "some program")
    try writer.insertQuakes("other")
    try writer.transaction {
      try writer.run("set local quake.author = 'me'", "set local quake.context = 'why'")
      try writer.insertQuakes("x", "a")
      try writer.run("update quake.quake set magnitude = 6, place = 'é' where code = 'a'")
    }
    try writer.run(
      "delete from quake.quake where code = 'a'", "truncate quake.quake",
      "insert into quake.quake (code, time) values ('a', '2024-01-01Z')", "truncate quake.quake",
      "truncate quake.quake", "insert into quake.quake (code, time) values ('a', '2024-01-01Z')")
    #expect(
      try connection.table(
        """
        select split_part(token, '.', 1), position, op, changed, (event).code, (event).magnitude,
               author, context, application_name
          from quake.versions('a')
        """)
        == [
          "2|1|insert|{}|a|5|me|why|some program",
          "2|2|update|{magnitude,place}|a|6|me|why|some program",
          "3|0|delete|{}|a|6|||some program",
          "5|0|insert|{}|a||||some program",
          "6|0|truncate|{}|||||some program",
          "8|0|insert|{}|a||||some program",
        ])
    #expect(try connection.table("select * from quake.versions('none')") == [])
    // The base that a purge leaves has no place in its transaction any more.
    _ = try Retention(connection: connection).purge(
      before: .token(try connection.latestToken()))
    #expect(
      try connection.table(
        "select split_part(token, '.', 1), position, op from quake.versions('a')")
        == ["8||insert"])
  }
}
