import Postgres
import QuakeModel
import TestSupport
import Testing

@Suite final class HistoryFunctionTests: DatabaseSuite {
  private func failure(token: String?, over other: Connection? = nil) throws -> PostgresError {
    try #require(throws: PostgresError.self) {
      try (other ?? connection).execute("select quake.token_number($1)", [.text(token)])
    }
  }

  @Test func historyFunctionsRefuseAMalformedToken() throws {
    for token in [
      "", "1", "1.", "01.9f3ac2d1", "+1.9f3ac2d1", "1.9F3AC2D1", "1.9f3ac2d", "1.9f3ac2d1 ",
      "1.9f3ac2d1\n", "x", "-1.9f3ac2d1", "9999999999999999999999.9f3ac2d1", "0.00000000",
    ] {
      #expect(try failure(token: token).sqlState == "QK001", "\(token)")
      for function in ["changes_since", "as_of"] {
        let error = try #require(throws: PostgresError.self) {
          try connection.execute(
            SQL(trusted: "select * from quake.\(function)($1)"), [.text(token)])
        }
        #expect(error.sqlState == "QK001", "\(token)")
      }
    }
    #expect(try failure(token: nil).sqlState == "QK001")
  }

  @Test(arguments: ServerVersion.usual)
  func historyFunctionsNameATokenOfAnotherHistoryOrAFutureOne(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let connection = try database.connect()
    defer { withExtendedLifetime(database) {} }
    func failure(token: String) throws -> PostgresError {
      try self.failure(token: token, over: connection)
    }
    #expect(try failure(token: "1.00000000").sqlState == "QK004")
    try connection.insertQuakes("a", "b")
    let newest = try connection.latestToken()
    #expect(newest.number == 2)
    #expect(
      try connection.ask("select quake.token_number($1)", [.text(newest.description)]) == "2")
    let nonce = newest.description.dropFirst(2)
    let otherNonce = nonce == "00000000" ? "00000001" : "00000000"
    let diverged = try failure(token: "2.\(otherNonce)")
    #expect(diverged.sqlState == "QK003")
    #expect(diverged.message == "history diverged at token 2.\(otherNonce)")
    #expect(diverged.detail == "Transaction 2 is \(newest) here.")
    let future = try failure(token: "3.\(nonce)")
    #expect(future.sqlState == "QK004")
    #expect(future.detail == "The newest token here is \(newest).")
    // A transaction that took its number and was lost.
    try connection.run("select nextval('quake.token')")
    try connection.insertQuakes("c")
    #expect(try connection.latestToken().number == 4)
    let gap = try failure(token: "3.00000000")
    #expect(gap.sqlState == "QK003")
    #expect(gap.detail == "There is no transaction 3 here.")
  }

  @Test func historyFunctionsGiveTheStateAtAnyTokenAndTheChangesSince() throws {
    var states: [(token: ChangeToken, state: [String])] = [(.beginning, [])]
    func note() throws {
      states.append(
        (try connection.latestToken(), try connection.table("select * from quake.quake order by 1"))
      )
    }
    for number in 0..<12 {
      try connection.transaction {
        try connection.insertQuakes("a\(number)", magnitude: Double(number))
        if number % 3 == 2 {
          try connection.run("update quake.quake set felt = coalesce(felt, 0) + 1")
        }
        if number % 4 == 3 { try connection.run("delete from quake.quake where magnitude < 2") }
        if number == 7 {
          try connection.run("truncate quake.quake")
          try connection.insertQuakes("a1", "after")
        }
      }
      try note()
    }
    #expect(Set(states.map(\.state)).count == states.count)
    for (token, state) in states {
      #expect(
        try connection.table(
          "select * from quake.as_of($1) order by 1", [.text(token.description)]) == state)
      #expect(
        try connection.ask(
          "select count(distinct token) from quake.changes_since($1)", [.text(token.description)])
          == "\(12 - token.number)")
    }
  }

  @Test func anEventIsFoundByTheIDsThatItHasAndHad() throws {
    try connection.insertQuakes("us1", "ci2")
    try connection.run(
      "insert into quake.quake_alias values ('ak9', 'us1'), ('ci2', 'us1'), ('lost', 'gone')")
    func found(_ id: String?) throws -> [String] {
      try connection.table("select code from quake.find($1)", [.text(id)])
    }
    #expect(try found("us1") == ["us1"])
    #expect(try found("ak9") == ["us1"])
    // Its own code comes before what it may have been once.
    #expect(try found("ci2") == ["ci2"])
    #expect(try found("lost") == [])
    #expect(try found("nothing") == [])
    #expect(try found(nil) == [])
  }

  @Test func aLongChainOfSupersededEventsIsFollowedToItsEnd() throws {
    try connection.run(
      """
      insert into quake.quake (code, time, superseded_by)
      select 'c' || i, now(), case when i < 40000 then 'c' || i + 1 end from generate_series(1, 40000) i
      """)
    // A person can make a circle: the event is the last one before those that were visited.
    try connection.run(
      """
      insert into quake.quake (code, time, superseded_by)
      values ('a1', now(), 'a2'), ('a2', now(), 'a3'), ('a3', now(), 'a2'), ('m', now(), 'nowhere')
      """)
    // A way whose cost grows with the square of its length takes minutes.
    try connection.run("set statement_timeout = '30s'")
    for (id, code) in [("c1", "c40000"), ("a1", "a3"), ("a3", "a2"), ("m", "m")] {
      #expect(try connection.table("select code from quake.find($1)", [.text(id)]) == [code])
    }
  }
}
