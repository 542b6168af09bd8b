import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory
@testable import QuakeQuery

/// Questions about the past that look only at a part of the history, compared with `quake.as_of(token)`, which reads
/// all of it.
@Suite final class PastEventsTests: DatabaseSuite {
  @Test func theRevisionsOfEventsWhoseCodesLookAlikeAreCountedApart() throws {
    let (composed, decomposed) = ("\u{E9}1", "e\u{301}1")
    for code in [composed, decomposed, decomposed] {
      try connection.execute(
        """
        insert into quake.quake as q (code, time, felt) values (\(code), '2024-01-01Z', 1)
        on conflict (code) do update set felt = q.felt + 1
        """)
    }
    try connection.atOneMoment {
      let revisions = try EventRevisions(
        inSnapshotOf: connection, over: try database.connect())
      #expect(
        try revisions.count(of: [composed, decomposed])
          == [Array(composed.utf8): 1, Array(decomposed.utf8): 2])
    }
  }

  /// The beginning of the days on which the random events are.
  private static let start = Timestamp(iso8601: "2024-02-27T00:00:00Z")?.microseconds ?? 0
  private static let day: Int64 = 86_400_000_000

  private static func time(using generator: inout SeededGenerator) -> Timestamp {
    let hours = Int64.random(in: 0..<8 * 24, using: &generator)
    // Often midnight, where days and windows meet.
    let start = start + hours / 24 * day
    let time = Bool.random(using: &generator) ? start : start + hours % 24 * day / 24
    return Timestamp(microseconds: time)
  }

  /// Random transactions of several changes: most move an event a little, some to another day or cell.
  private func write(_ count: Int, truncates: Bool, using generator: inout SeededGenerator) throws {
    for _ in 0..<count {
      try connection.transaction {
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
          try change(truncates: truncates, using: &generator)
        }
      }
    }
  }

  private func change(truncates: Bool, using generator: inout SeededGenerator) throws {
    let code = "'e\(Int.random(in: 0..<30, using: &generator))'"
    let longitude = Double.random(in: -3...3, using: &generator)
    let latitude = Double.random(in: -3...3, using: &generator)
    let magnitude = Int.random(in: 0...7, using: &generator)
    let statement =
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<2 where truncates: "truncate quake.quake"
      case 0..<10: "delete from quake.quake where code = \(code)"
      case 10..<30:
        """
        update quake.quake set time = time + interval '1 hour' - magnitude * interval '20 minutes',
               longitude = longitude + 0.1, latitude = latitude - 0.1 where code = \(code)
        """
      case 30..<40: "update quake.quake set magnitude = \(magnitude) where code = \(code)"
      case 40..<45: "update quake.quake set longitude = null, latitude = null where code = \(code)"
      case 45..<50:
        """
        update quake.quake set superseded_by = case when superseded_by is null then 'other' end
         where code = \(code)
        """
      case 50..<55:
        "update quake.quake set time = time + interval '1 day' where magnitude = \(magnitude)"
      default:
        """
        insert into quake.quake as q (code, time, magnitude, longitude, latitude)
        values (\(code), '\(Self.time(using: &generator))', \(magnitude), \(longitude), \(latitude))
        on conflict (code) do update set time = excluded.time, longitude = excluded.longitude,
               latitude = excluded.latitude
        """
      }
    try connection.run(statement)
  }

  /// Notes a part of the history that may end anywhere, and sometimes purges some.
  private func noteAndPurge(using generator: inout SeededGenerator) throws {
    for _ in 0..<Int.random(in: 0...12, using: &generator) {
      let size = Int.random(in: 1...40, using: &generator)
      try connection.execute("select quake.note_past(\(size)::integer)")
    }
    guard Int.random(in: 0..<3, using: &generator) == 0 else { return }
    let floor = try tokens().prefix(20).randomElement(using: &generator)
    try connection.execute("select quake.raise_history_floor(\(floor ?? .beginning), '0')")
    for _ in 0..<Int.random(in: 0...9, using: &generator) {
      try connection.run("select quake.purge_history(5)")
    }
  }

  private func tokens() throws -> [ChangeToken] {
    try connection.table(
      """
      select token || '.' || nonce from quake.change_transaction
       where token >= (select token from quake.history_floor) order by token
      """
    ).compactMap { ChangeToken($0) }
  }

  @Test(arguments: Seeds.first(1, of: 1...12))
  func aPartOfThePastIsThatPartOfTheWhole(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    for round in 0..<8 {
      // Late, and in some histories: after a truncate, the whole history is read.
      try write(25, truncates: seed % 3 == 1 && round > 4, using: &generator)
      try noteAndPurge(using: &generator)
      let all = try tokens()
      let some = (0..<12).compactMap { _ in all.randomElement(using: &generator) }
      for token in some + all.suffix(1) + all.prefix(1) {
        func time() -> String {
          let time = Self.time(using: &generator)
          return Bool.random(using: &generator) ? "'\(time)'::timestamptz" : "null::timestamptz"
        }
        let (earliest, end) = (time(), time())
        let radius = Int.random(in: 10...300, using: &generator)
        let isArea = Bool.random(using: &generator)
        let cells =
          isArea ? "quake.quake__circle_cells(0.5, 0.5, \(radius))" : "null::integer[]"
        let differing = try connection.table(
          """
          with whole as (
            select * from quake.as_of('\(token)') q
             where q.time >= coalesce(\(earliest), '-infinity') and q.time < coalesce(\(end), 'infinity')
               and (\(cells) is null or quake.quake__cell(q.longitude, q.latitude) = any (\(cells)))
          ), part as (
            select * from quake.as_of('\(token)', \(earliest), \(end), \(cells))
          )
          (select 'missing', w.code from (select * from whole except all select * from part) w)
           union all
          (select 'wrong', w.code from (select * from part except all select * from whole) w)
          """)
        #expect(differing == [], "\(token), \(earliest), \(end), \(cells)")
      }
    }
  }

  @Test(arguments: Seeds.first(1, of: 1...12))
  func aPageOfThePastIsThatPageOfTheWhole(seed: UInt64) throws {
    var generator = SeededGenerator(seed &+ 100)
    for round in 0..<6 {
      try write(25, truncates: seed % 2 == 1 && round > 3, using: &generator)
      try noteAndPurge(using: &generator)
      let all = try tokens()
      for _ in 0..<8 {
        let token = all.randomElement(using: &generator) ?? .beginning
        var whole: [EventRecord] = []
        try connection.copyEvents(
          """
          select \(sql: EventColumn.list(of: "q")) from quake.as_of(\(token)) q order by q.time desc, q.code
          """
        ) { whole.append($0) }
        var query = EventQuery()
        query.asOf = .token(token)
        if Bool.random(using: &generator) {
          query.filter.minimumMagnitude = Double(Int.random(in: 0...6, using: &generator))
        }
        if Bool.random(using: &generator) {
          query.filter.earliestTime = Self.time(using: &generator)
        }
        if Bool.random(using: &generator) { query.filter.endTime = Self.time(using: &generator) }
        if Bool.random(using: &generator) {
          query.filter.circle = .init(radius: 200, latitude: 0.5, longitude: 0.5)
        }
        if Int.random(in: 0..<3, using: &generator) == 0 {
          let codes = (0..<9).map { _ in "e\(Int.random(in: 0..<33, using: &generator))" }
          query.filter.codes = Set(codes)
        }
        let expected = whole.filter {
          (query.filter.codes != nil || $0.supersededBy == nil) && query.filter.accepts($0)
        }
        #expect(try query.count(over: connection) == expected.count)
        query.limit = Int64.random(in: 1...9, using: &generator)
        query.offset = Int64.random(in: 0...3, using: &generator)
        var pages: [EventRecord] = Array(expected.prefix(Int(query.offset)))
        repeat {
          let page = try query.page(over: connection)
          pages += page.events
          query.after = page.next
          query.offset = 0
        } while query.after != nil
        #expect(pages == expected, "\(token), \(query)")
      }
    }
  }

  @Test func namedEventsOfThePastAreFoundByTheirCodes() throws {
    try connection.run(
      """
      insert into quake.quake (code, time, magnitude)
      select 'e' || n, '2024-02-27Z'::timestamptz + n * interval '1 min', 1 from generate_series(1, 2000) n
      """,
      "update quake.quake set magnitude = 2", "update quake.quake set magnitude = 3",
      "delete from quake.quake where code = 'e8'", "analyze quake.quake_version")
    let read: SQL = """
      select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::bigint
        from pg_stat_xact_user_tables where relname in ('quake', 'quake_version', 'change_transaction')
      """
    try connection.transaction(readOnly: true) {
      let codes = ["e7", "e8", "none"]
      var rest = codes.makeIterator()
      var (named, sent) = (EventQuery(), EventQuery())
      named.filter.codes = Set(codes)
      sent.codes = try SessionCodes.send(over: connection) { rest.next() }
      for var query in [named, sent] {
        query.limit = 10
        for (point, expected) in [(2, ["e8", "e7"]), (4, ["e7"])] as [(Int64, [String])] {
          query.asOf = .number(point)
          let before = try connection.row(read, as: Int64.self)
          let events = try query.page(over: connection).events
          #expect(events.map(\.code) == expected)
          #expect(events.last?.magnitude == Double(min(point, 3)))
          #expect(try query.count(over: connection) == expected.count)
          let after = try connection.row(read, as: Int64.self)
          #expect(after - before < 200, "rows read as of \(point)")
        }
      }
    }
  }

  /// A clock that often goes back, and tokens with gaps, so that a few transactions have several thousands of tokens.
  @Test(arguments: Seeds.first(1, of: 1...12))
  func aTimeLeadsToTheNewestTokenThatHadCommitted(seed: UInt64) throws {
    var generator = SeededGenerator(seed &+ 200)
    for _ in 0..<5 {
      try write(25, truncates: false, using: &generator)
      let gap = Int64.random(in: 0...400, using: &generator)
      let clock = Int64.random(in: 0...1000, using: &generator)
      try connection.run(
        """
        update quake.change_transaction t
           set at = '2024-01-01Z'::timestamptz
                    + (t.token + \(clock) + (t.token * 7919 % 13) * (t.token % 7 / 6) * 100) * interval '1 s'
         where t.token > (select token from quake.past_noted)
        """, "select setval('quake.token', nextval('quake.token') + \(gap))")
      try noteAndPurge(using: &generator)
      let differing = try connection.table(
        """
        with time (at) as (
          select t.at + n * interval '1 s' from quake.change_transaction t, generate_series(-1, 1) n
          union select unnest('{-infinity,infinity,null}'::timestamptz[])
        )
        select m.at, f.token, w.token
          from time m
         cross join lateral (select quake.token_at(m.at) offset 0) f (token)
         cross join lateral (
            select coalesce((select t.token || '.' || t.nonce from quake.change_transaction t
                              where t.at <= m.at order by t.token desc limit 1), '0')) w (token)
         where f.token is distinct from w.token
        """)
      #expect(differing == [])
    }
  }

  @Test func onlyMovesToAnotherHourOrCellAndDeletesAreNoted() throws {
    func place() throws -> [String] {
      while try connection.ask("select quake.note_past(2)") == "f" {}
      return try connection.table(
        """
        select p.token, p.code, p.day, p.hour, p.cell = quake.quake__cell(10.5, 20.5), v.op
          from quake.past_place p join quake.quake_version v on v.id = p.version order by p.version
        """)
    }
    func days() throws -> [String] {
      try connection.table(
        """
        select day, token,
               array(select number || '=' || hour from unnest(hours) with ordinality h (hour, number)
                      where hour is not null order by number)
          from quake.past_day order by day
        """)
    }
    try connection.run(
      """
      insert into quake.quake (code, time, longitude, latitude)
      select 'e' || n, '2024-02-29T23:00:00Z', 10.5, 20.5 from generate_series(1, 5) n
      """,
      "update quake.quake set time = '2024-02-29T23:59:59Z', longitude = 10.6, magnitude = 4")
    #expect(try place() == [])
    #expect(try days() == ["2024-02-29|1|{24=1}"])
    try connection.run(
      "update quake.quake set time = '2024-03-01T00:00:00Z' where code = 'e1'",
      "update quake.quake set latitude = 30 where code = 'e2'",
      "update quake.quake set longitude = null, latitude = null where code = 'e3'",
      "delete from quake.quake where code = 'e4'",
      "insert into quake.quake (code, time) values ('e4', '2024-03-01T00:00:00Z')",
      "update quake.quake set time = '2024-02-29T22:59:59Z' where code = 'e5'")
    let noted = [
      "3|e1|2024-02-29|23|t|update", "4|e2|2024-02-29|23|t|update", "5|e3|2024-02-29|23|t|update",
      "6|e4|2024-02-29|23|t|delete", "8|e5|2024-02-29|23|t|update",
    ]
    #expect(try place() == noted)
    #expect(try days() == ["2024-02-29|1|{23=8,24=1}", "2024-03-01|3|{1=3}"])
    #expect(try connection.table("select token from quake.past_noted") == ["8"])
    // Below the floor nothing is needed.
    try connection.run(
      """
      select quake.raise_history_floor((select token || '.' || nonce from quake.change_transaction
                                         where token = 5), '0')
      """,
      "update quake.quake set magnitude = 5 where code = 'e5'")
    #expect(try place() == Array(noted.suffix(2)))
  }

  /// Notes by day, or of a centre that had purged more of its history than a region has.
  @Test func notesThatAreNotCompleteAreNotUsed() throws {
    try connection.run(
      "insert into quake.quake (code, time) values ('e1', '2024-02-29T21:30:00Z')",
      "update quake.quake set time = '2024-02-29T23:30:00Z'", "select quake.note_past(2000)",
      "delete from quake.past_place", "update quake.past_day set hours = '{}'")
    let part = """
      select code from quake.as_of((select token || '.' || nonce from quake.change_transaction where token = 1),
                                   '2024-02-29T21:00:00Z', '2024-02-29T22:00:00Z')
      """
    #expect(try connection.table(part) == [], "the notes are used")
    try connection.run("update quake.past_noted set since = 2")
    #expect(try connection.table(part) == ["e1"])
    try connection.run("update quake.past_noted set since = null")
    #expect(try connection.table(part) == ["e1"])
    // The change after it is enough.
    #expect(try connection.ask("select quake.past__reach(1)") == "0")
    #expect(try connection.ask("select quake.note_past(2000)") == "t")
    #expect(try connection.table(part) == ["e1"])
    #expect(
      try connection.table("select code, hour from quake.past_place") == ["e1|21"], "noted anew")
    #expect(
      try connection.table("select token, version, since from quake.past_noted") == ["2||0"])
  }

  @Test func notesBeginWhereThePurgeWasAheadOfThem() throws {
    try connection.run(
      "insert into quake.quake (code, time) values ('e1', '2024-02-29T21:30:00Z')",
      "select quake.note_past(2000)", "update quake.quake set time = '2024-02-29T22:30:00Z'",
      "update quake.quake set time = '2024-02-29T23:30:00Z'",
      "update quake.quake set magnitude = 1")
    try connection.run(
      """
      select quake.raise_history_floor((select token || '.' || nonce from quake.change_transaction
                                         where token = 3), '0')
      """,
      "select quake.purge_history(100)", "select quake.note_past(1)", "select quake.note_past(1)",
      "select quake.note_past(1)", "update quake.quake set magnitude = 2",
      "select quake.note_past(2000)")
    #expect(
      try connection.table("select token, version, since from quake.past_noted") == ["5||3"])
  }
}
