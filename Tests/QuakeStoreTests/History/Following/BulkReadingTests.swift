import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory

/// A backlog is read in bulk, which must change nothing but the time it takes.
@Suite final class BulkReadingTests: DatabaseSuite {
  private typealias Sizes = HistoryReader.BulkSizes
  private static let notInBulk = Sizes(first: 0)
  /// Sizes that put the ends of pages at all kinds of places.
  private static let sizes = [
    Sizes(first: 1, most: Tools.isSoak ? 7 : 23), Sizes(first: 3, most: 3),
    Sizes(first: 499, most: 901), Sizes(),
  ]

  private struct Stop: Error {}

  /// Every kind of change, in small transactions and large ones.
  private func writeHistory(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    let history = RandomHistory(connection)
    try history.write(25, using: &generator)
    try connection.run(
      """
      insert into quake.quake (code, time, place, longitude, latitude, updated)
      select 'large' || i, '2024-01-01Z'::timestamptz + i * interval '1.000001 s',
             repeat('é"\\', i % 30), i % 180, -i % 90 / 7.0, '1999-12-31 23:59:59.9999Z'
        from generate_series(1, 620) i
      """,
      "update quake.quake set felt = coalesce(felt, 0) + 1, place = null where code < 'large5'",
      """
      do $$ begin
        set constraints all immediate;
        for i in 1..150 loop
          update quake.quake set sig = i where code = 'large' || i;
        end loop;
      end $$
      """)
    try connection.transaction {
      try connection.run(
        "update quake.quake set mmi = 1.5",
        "update quake.quake set mmi = 2.5 where code > 'large9'",
        "delete from quake.quake where code like 'large1%'", "truncate quake.quake",
        "insert into quake.quake (code, time) select 'again' || i, now() from generate_series(1, 120) i"
      )
    }
    try history.write(10, using: &generator)
    try connection.run("delete from quake.quake")
    // As clients over TCP would have left some.
    try connection.run(
      "update quake.change_transaction set client_address = '192.0.2.7' where token % 3 = 0")
  }

  /// All changes after a cursor, each as a line of JSON.
  private func lines(
    after cursor: HistoryCursor = HistoryCursor(token: .beginning), _ sizes: Sizes,
    over other: Connection? = nil, each body: (Int) throws -> Void = { _ in }
  ) throws -> [String] {
    var reader = try HistoryReader(
      connection: other ?? connection, after: cursor, bulkSizes: sizes)
    var lines: [String] = []
    try read(&reader, into: &lines, each: body)
    return lines
  }

  private func read(
    _ reader: inout HistoryReader, into lines: inout [String], each body: (Int) throws -> Void
  ) throws {
    while try !reader.readPage({ change in
      try body(lines.count)
      lines.append(change.text)
    }) {}
  }

  private func expectSame(_ lines: [String], _ expected: [String], _ comment: String) {
    let difference = zip(lines, expected).first { $0 != $1 }
    #expect(
      lines.count == expected.count && difference == nil,
      "\(comment): \(lines.count) lines of \(expected.count); \(difference as Any)")
  }

  @Test(arguments: [1] as [UInt64])
  func aBacklogReadInBulkHasTheSameChangesByteForByte(seed: UInt64) throws {
    try writeHistory(seed: seed)
    let expected = try lines(Self.notInBulk)
    #expect(expected.count > 2000)
    let observer = try database.connect()
    for sizes in Self.sizes {
      let read = try lines(sizes) { number in
        guard number == 700 else { return }
        let query = try observer.ask(
          "select query from pg_stat_activity where pid = \(connection.serverProcessID)")
        #expect(query?.hasPrefix("copy (") == true, "it is not read in bulk")
      }
      expectSame(read, expected, "\(sizes)")
    }
    // From places within transactions, too.
    var cursors: [HistoryCursor] = []
    var reader = try HistoryReader(connection: connection, after: .beginning)
    while try !reader.readPage({ change in
      if change.position % 97 == 5 || change.transaction.token.number % 11 == 0 {
        cursors.append(
          HistoryCursor(token: change.transaction.token, changes: change.position + 1))
      }
    }) {}
    #expect(cursors.count > 20)
    let step = Tools.isSoak ? 5 : 15
    for (index, cursor) in cursors.enumerated() where index % step == 0 {
      let sizes = Self.sizes[index / step % Self.sizes.count]
      expectSame(
        try lines(after: cursor, sizes), try lines(after: cursor, Self.notInBulk),
        "\(sizes) after \(cursor)")
    }
  }

  @Test func aBacklogReadInBulkGoesOnAfterARefusedChange() throws {
    try writeHistory(seed: 3)
    let expected = try lines(Self.notInBulk)
    var generator = SeededGenerator(3)
    for sizes in Self.sizes {
      var reader = try HistoryReader(
        connection: connection, after: HistoryCursor(token: .beginning), bulkSizes: sizes)
      var lines: [String] = []
      var refusals = 0
      while true {
        do {
          try read(&reader, into: &lines) { _ in
            if Int.random(in: 0..<250, using: &generator) == 0 { throw Stop() }
          }
          break
        } catch is Stop {
          refusals += 1
          // Another reader may go on, too.
          if refusals % 3 == 0 {
            reader = try HistoryReader(connection: connection, continuing: reader)
          }
        }
      }
      #expect(refusals > 3)
      expectSame(lines, expected, "\(sizes)")
    }
  }

  @Test func aBacklogReadInBulkAllowsOtherStatementsAndReaders() throws {
    try writeHistory(seed: 4)
    // More than is kept of a bulk page when the connection is needed.
    try connection.run(
      """
      insert into quake.quake (code, time, title, detail)
      select 'wide' || i, now(), repeat('t', 2000), repeat('d', 8000) from generate_series(1, 700) i
      """)
    let expected = try lines(Self.notInBulk)
    var generator = SeededGenerator(4)
    for sizes in Tools.isSoak ? Self.sizes : Array(Self.sizes[2...]) {
      let read = try lines(sizes) { _ in
        if Int.random(in: 0..<300, using: &generator) == 0 { try connection.run("select 1") }
      }
      expectSame(read, expected, "\(sizes), beside other statements")
      // Copies of a reader share the connection.
      var readers = [
        try HistoryReader(
          connection: connection, after: HistoryCursor(token: .beginning), bulkSizes: sizes)
      ]
      var texts: [[String]] = [[]]
      var isOver = [false]
      while let next = isOver.indices.filter({ !isOver[$0] }).randomElement(using: &generator) {
        isOver[next] = try readers[next].readPage { texts[next].append($0.text) }
        if readers.count < 3, texts[next].count > 900 * readers.count {
          readers.append(readers[next])
          texts.append(texts[next])
          isOver.append(isOver[next])
        }
      }
      #expect(texts.count == 3)
      for text in texts { expectSame(text, expected, "\(sizes), a copy") }
    }
  }

  @Test func aBacklogReadInBulkIsTheSameBesideCommitsAndAPurge() throws {
    let writer = try database.connect()
    let retention = Retention(connection: try database.connect())
    for (number, sizes) in Self.sizes.enumerated() where Tools.isSoak || number.isMultiple(of: 2) {
      try writeHistory(seed: 10 + UInt64(number))
      let start = try #require(
        ChangeToken(try connection.ask("select quake.oldest_token()") ?? ""))
      let known = try lines(after: HistoryCursor(token: start), Self.notInBulk)
      let end = try connection.latestToken()
      var reader = try HistoryReader(
        connection: connection, after: HistoryCursor(token: start), bulkSizes: sizes)
      var read: [String] = []
      var pages = 0
      while try !reader.readPage({ read.append($0.text) }) {
        pages += 1
        if pages % 2 == 0 {
          try writer.run(
            "insert into quake.quake (code, time) values ('late\(number)-\(pages)', now())")
        }
        // Not beyond the end of what is compared.
        guard reader.cursor.token.number <= end.number else { continue }
        if pages % 3 == 0, reader.cursor.changes == 0 {
          _ = try retention.purge(before: .token(reader.cursor.token))
        } else if pages % 3 == 1, reader.token != .beginning {
          _ = try retention.purge(before: .token(reader.token))
        }
      }
      let later = try lines(after: HistoryCursor(token: end), Self.notInBulk)
      #expect(pages > 4 && later.count >= 2)
      expectSame(read, known + later, "\(sizes)")
      #expect(try connection.ask("select (token > 0)::text from quake.history_floor") == "true")
    }
  }

  @Test func aBacklogReadInBulkSaysWhenItsNextChangesWerePurged() throws {
    try writeHistory(seed: 5)
    for sizes in Self.sizes {
      var reader = try HistoryReader(
        connection: connection, after: HistoryCursor(token: .beginning), bulkSizes: sizes)
      for _ in 0..<2 { #expect(try !reader.readPage { _ in }) }
      try connection.run("update quake.history_floor set token = 100000, purged_to = 100000")
      let error = try #require(throws: StoreError.self) {
        while try !reader.readPage({ _ in }) {}
      }
      #expect(error.kind == .token(.expired))
      try connection.run("update quake.history_floor set token = 0, purged_to = 0")
    }
  }
}
