import Foundation
import Postgres
import TestSupport
import Testing

/// `/v1/table`: the events as rows, and the cursor of the changes after them.
@Suite struct APITableTests {
  private struct Table {
    let token: String
    let columns: [String]
    let rows: [[Any]]
    let text: String

    init(_ answer: RawConnection.Answer) throws {
      try #require(answer.status == 200, "\(answer.text)")
      let object = try answer.object()
      token = try #require(object["token"] as? String)
      columns = try #require(object["columns"] as? [String])
      rows = try #require(object["rows"] as? [[Any]])
      text = answer.text
    }

    func column(_ name: String) throws -> [Any] {
      let index = try #require(columns.firstIndex(of: name))
      return rows.map { $0[index] }
    }
  }

  private static let usual = [
    "code", "time", "updated", "latitude", "longitude", "depth", "magnitude", "magnitude_type",
    "place", "type", "status", "tsunami", "alert", "felt", "sig", "net",
  ]

  /// The rows as the database has them, in the form of the table.
  private static func rows(_ database: TestDatabase, _ columns: [String], from: String) throws
    -> [Any]
  {
    let values = columns.map { column in
      ["time", "updated"].contains(column)
        ? "trim_scale(extract(epoch from q.\(column)) * 1000)" : "q.\(column)"
    }
    let text = try database.value(
      """
      select json_agg(json_build_array(\(values.joined(separator: ", "))) order by q.time desc nulls last, q.code)
        from \(from) q
      """)
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any])
  }

  @Test func theRowsAreThoseOfTheDatabase() throws {
    let scene = try APIScene()
    try scene.database.psql(
      "update quake.quake set time = '2024-01-01 12:00:00.123456Z', updated = null where code = 'us6'"
    )
    let table = try Table(try scene.server.get("/v1/table"))
    #expect(table.columns == Self.usual)
    let expected = try Self.rows(scene.database, Self.usual, from: "quake.current_quake")
    #expect(
      try APIScene.text(table.rows as Any) == APIScene.text(expected as Any) && expected.count > 30)
    #expect(table.text.contains(",1704110400123.456,null,"))
    // A line for each event.
    let lines = table.text.split(separator: "\n")
    #expect(lines.count == expected.count + 2 && lines.last == "]}")

    let columns = ["sig", "ids", "validated", "first_stored", "code"]
    let some = try Table(
      try scene.server.get(
        "/v1/table?columns=\(columns.joined(separator: ","))&all&min_magnitude=3&sort=magnitude"))
    #expect(some.columns == columns)
    let codes = try scene.database.column(
      "select code from quake.quake where magnitude >= 3 order by magnitude, code")
    #expect(try some.column("code") as? [String] == codes && codes.count > 20)
    let none = try Table(try scene.server.get("/v1/table?code=none"))
    #expect(none.rows.isEmpty && none.columns == Self.usual)
  }

  @Test func theParametersAndPagesAreThoseOfTheList() throws {
    let scene = try APIScene()
    for query in [
      "max-magnitude=3.5&min-depth=20", "place=P%C4%80HALA", "within=3000:0,0",
      "code=us1,us3,none&superseded", "sort=place,-time", "as-of=1&all",
    ] {
      let table = try Table(try scene.server.get("/v1/table?\(query)&columns=code"))
      let list = try scene.object("/v1/quakes?\(query)&columns=code")
      let codes = try #require(list["features"] as? [[String: Any]]).map { $0["id"] as? String }
      #expect(try table.column("code") as? [String?] == codes, "\(query)")
    }
    // Links lead through the whole table.
    let whole = try APIScene.text(try Table(try scene.server.get("/v1/table?all")).rows as [Any])
    let parts = try scene.pages("/v1/table?all&limit=7").flatMap {
      try APIScene.text(try #require($0["rows"] as? [Any]))
    }
    #expect(parts == whole && whole.count > 35)
  }

  @Test func theTableIsAsOfItsPoint() throws {
    let scene = try APIScene()
    let database = scene.database
    let before = try Table(try scene.server.get("/v1/table?all"))
    #expect(try before.token == database.value("select quake.latest_token()"))
    try database.psql(
      "update quake.quake set magnitude = magnitude + 1; delete from quake.quake where code = 'us8'"
    )
    let after = try Table(try scene.server.get("/v1/table?all"))
    #expect(try APIScene.text(after.rows as Any) != APIScene.text(before.rows as Any))
    #expect(try after.token == database.value("select quake.latest_token()"))
    let then = try Table(try scene.server.get("/v1/table?all&as-of=\(before.token)"))
    #expect(then.token == before.token)
    #expect(try APIScene.text(then.rows as Any) == APIScene.text(before.rows as Any))
    let time = try database.value(
      "select to_char(at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') from quake.change_transaction where token || '.' || nonce = '\(before.token)'"
    )
    let byTime = try Table(try scene.server.get("/v1/table?all&as-of=\(time)"))
    #expect(byTime.token == before.token)
  }

  /// Tables are read while sessions commit; each one with the changes after its token is the list at the end.
  @Test func theTokenIsACursorWithoutAGap() throws {
    let database = try TestDatabase()
    try database.psql(
      "insert into quake.quake (code, time, magnitude, place) select 'e' || i, now(), 1, 'x' from generate_series(1, 50) i"
    )
    let server = try ServerProcess(database)
    let enough = Tally()
    let writers = (1...3).map { number in
      BackgroundThread {
        let connection = try database.connect()
        var round = 0
        while enough.total == 0 {
          round += 1
          try connection.execute(
            "update quake.quake set magnitude = mod(magnitude::numeric * 10 + 3, 70) / 10 where code = $1",
            [.text("e\(number * 10 + round % 5)")])
        }
      }
    }
    var tables: [Table] = []
    let reading = Result {
      try eventually("the tables of ten points are read") {
        tables.append(try Table(try server.get("/v1/table?columns=code,magnitude")))
        return Set(tables.map(\.token)).count >= 10
      }
    }
    enough.add(1)
    for writer in writers { try writer.join() }
    try reading.get()
    let end = try Table(try server.get("/v1/table?columns=code,magnitude"))
    for table in tables {
      var magnitudes: [String: Double] = [:]
      for row in table.rows { magnitudes[row[0] as? String ?? ""] = row[1] as? Double }
      for change in try Self.changes(server, after: table.token, upTo: end.token) {
        let new = try #require(change["new"] as? [String: Any])
        let code = try #require(new["code"] as? String)
        // Without a gap and without a repeat, the old value is the one that is known.
        let old = (change["old"] as? [String: Any])?["magnitude"] as? Double
        #expect(old == magnitudes[code])
        magnitudes[code] = new["magnitude"] as? Double
      }
      var expected: [String: Double] = [:]
      for row in end.rows { expected[row[0] as? String ?? ""] = row[1] as? Double }
      #expect(magnitudes == expected)
    }
    try server.stop()
  }

  /// The changes after a cursor, up to another one.
  private static func changes(_ server: ServerProcess, after start: String, upTo end: String) throws
    -> [[String: Any]]
  {
    var changes: [[String: Any]] = []
    var cursor = start
    while cursor != end {
      let answer = try server.get("/v1/changes?after=\(cursor)&wait=30")
      try #require(answer.status == 200, "\(answer.text)")
      let lines = try answer.text.split(separator: "\n").map {
        try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
      }
      changes += lines.filter { $0["op"] as? String != "heartbeat" }
      cursor = try #require(lines.last?["token"] as? String)
    }
    return changes
  }
}
