import Foundation
import QuakeModel
import TestSupport
import Testing

/// The public form of a change. It is an interface, because programs parse it.
@Suite struct ChangeJSONTests {
  private func transaction(full: Bool) throws -> ChangeTransaction {
    ChangeTransaction(
      token: try #require(ChangeToken("1042.9f3ac2d1")), author: full ? "usgs" : nil,
      context: full ? "all_hour" : nil, application: full ? "quake-ingest" : nil, user: "quake",
      processID: 4711, client: full ? "192.0.2.7" : nil,
      at: try #require(Timestamp(iso8601: "2024-01-31T12:34:56.789Z")), importID: full ? 17 : nil,
      counts: ChangeCounts(inserted: 2, updated: 1))
  }

  private func record(_ magnitude: Double) throws -> EventRecord {
    var record = EventRecord()
    record.set(.code, "us7000pn9s")
    record.set(.source, "usgs")
    record.set(.magnitude, magnitude)
    record.set(.place, "10 km \"N\" of Tōkyō")
    record.set(.time, try #require(Timestamp(iso8601: "2024-01-31T12:00:00Z")))
    record.set(.felt, integer: 3)
    record.set(.tsunami, integer: 0)
    record.set(.validated, false)
    return record
  }

  private func quakeJSON(magnitude: String) -> String {
    """
    {"code":"us7000pn9s","net":null,"net_code":null,"source":"usgs","type":null,"status":null,\
    "magnitude":\(magnitude),"magnitude_type":null,"place":"10 km \\"N\\" of Tōkyō",\
    "time":"2024-01-31T12:00:00.000Z","updated":null,"longitude":null,"latitude":null,\
    "depth":null,"title":null,"url":null,"detail":null,"felt":3,"cdi":null,"mmi":null,\
    "alert":null,"tsunami":0,"sig":null,"nst":null,"dmin":null,"rms":null,"gap":null,"ids":null,\
    "sources":null,"types":null,"as_of":null,"validated":false,"withdrawn_at":null,\
    "superseded_by":null,"first_stored":null}
    """
  }

  private let transactionJSON = """
    {"author":"usgs","context":"all_hour","application":"quake-ingest","user":"quake",\
    "pid":4711,"client":"192.0.2.7","at":"2024-01-31T12:34:56.789Z","import":17}
    """

  private func written(_ change: Change) throws -> String {
    var json = JSONWriter()
    json.change(change)
    // It must be valid JSON in every case.
    _ = try JSONSerialization.jsonObject(with: Data(json.bytes))
    return String(decoding: json.bytes, as: UTF8.self)
  }

  @Test func jsonOfAnUpdateHasBothStatesAndTheChangedColumns() throws {
    let change = Change(
      transaction: try transaction(full: true), position: 2, op: .update, code: "us7000pn9s",
      changed: ["magnitude", "place"], old: try record(5), new: try record(5.1))
    #expect(
      try written(change) == """
        {"token":"1042.9f3ac2d1","position":2,"op":"update","code":"us7000pn9s",\
        "changed":["magnitude","place"],"old":\(quakeJSON(magnitude: "5")),\
        "new":\(quakeJSON(magnitude: "5.1")),"transaction":\(transactionJSON)}
        """)
  }

  @Test func jsonOfATruncateWithoutAnAuthorHasEveryMemberNull() throws {
    let change = Change(
      transaction: try transaction(full: false), position: 0, op: .truncate, code: nil,
      changed: [], old: nil, new: nil)
    #expect(
      try written(change) == """
        {"token":"1042.9f3ac2d1","position":0,"op":"truncate","code":null,"changed":[],\
        "old":null,"new":null,"transaction":{"author":null,"context":null,"application":null,\
        "user":"quake","pid":4711,"client":null,"at":"2024-01-31T12:34:56.789Z","import":null}}
        """)
  }

  @Test func jsonHasTheSameMembersForAnEventOfASnapshot() throws {
    var json = JSONWriter()
    json.snapshot(
      try record(5), token: try #require(ChangeToken("1042.9f3ac2d1")), position: 7)
    #expect(
      String(decoding: json.bytes, as: UTF8.self) == """
        {"token":"1042.9f3ac2d1","position":7,"op":"snapshot","code":"us7000pn9s","changed":[],\
        "old":null,"new":\(quakeJSON(magnitude: "5")),"transaction":null}
        """)
  }

  @Test func jsonOfATransactionHasItsCountsAndChangesInAnyParts() throws {
    let transaction = try transaction(full: true)
    func change(_ position: Int64) throws -> Change {
      Change(
        transaction: transaction, position: position, op: .insert, code: "us7000pn9s", changed: [],
        old: nil, new: try record(5))
    }
    var json = JSONWriter()
    var text = ""
    func part(_ body: (inout JSONWriter) throws -> Void) rethrows {
      try body(&json)
      text += String(decoding: json.bytes, as: UTF8.self)
      json.removeWritten()
    }
    part { $0.beginTransaction(transaction) }
    for position in [0, 7] as [Int64] {
      try part { $0.change(within: try change(position)) { _ in } }
    }
    part { $0.endTransaction() }
    let changes = [0, 7].map { position in
      """
      {"position":\(position),"op":"insert","code":"us7000pn9s","changed":[],"old":null,\
      "new":\(quakeJSON(magnitude: "5"))}
      """
    }
    #expect(
      text == """
        {"token":"1042.9f3ac2d1",\(transactionJSON.dropFirst().dropLast()),"inserted":2,"updated":1,\
        "deleted":0,"truncated":0,"changes":[\(changes.joined(separator: ","))]}
        """)
  }

  @Test func jsonOfAVersionMayLackThePositionAndOfADifferenceTheTransaction() throws {
    var json = JSONWriter()
    json.version(
      EventVersion(
        transaction: try transaction(full: true), position: nil, op: .update, code: "us7000pn9s",
        changed: ["felt"], old: nil, new: try record(5))
    ) { _ in }
    json.newline()
    json.difference(
      EventDifference(op: .delete, code: "us7000pn9s", changed: [], old: try record(5), new: nil)
    ) { _ in }
    let quake = quakeJSON(magnitude: "5")
    #expect(
      String(decoding: json.bytes, as: UTF8.self) == """
        {"token":"1042.9f3ac2d1","position":null,"op":"update","code":"us7000pn9s",\
        "changed":["felt"],"old":null,"new":\(quake),"transaction":\(transactionJSON)}
        {"op":"delete","code":"us7000pn9s","changed":[],"old":\(quake),"new":null}
        """)
  }

  /// Events with long texts are written member by member, others at once.
  @Test func jsonOfAnEventIsTheSameWhicheverWayItIsWritten() throws {
    var generator = SeededGenerator(16)
    let texts = [
      "", "a", "exactly8", "a \"quoted\" \\ text", "Pāhala, Hawaii\n\u{7F}\u{202E}", "🌋🌋🌋🌋",
      String(repeating: "\u{1}", count: 50), String(repeating: "long ", count: 60),
    ]
    let instants: [Int64] = [
      0, -1, 1_706_704_496_789_000, 1_706_704_496_789_001, -62_135_596_800_000_000,
      253_402_300_800_000_000, -99_000_000_000_000_000, .min, .max,
    ]
    let numbers = [
      0, -0.0, 1, -7, 4.56, 0.1, -122.8208333, 38.81567001, 1e-4, 0.0010000001, 99_999_999.9999999,
      123_456_789.25, 1e300, .nan, .infinity, .leastNonzeroMagnitude,
    ]
    for round in 0..<60 {
      var short = EventRecord()
      var long = EventRecord()
      long.set(.code, String(repeating: "x", count: 9000))
      for column in EventColumn.allCases {
        guard round > 0, Int.random(in: 0..<4, using: &generator) > 0 else {
          long.setNull(column)
          continue
        }
        switch column.kind {
        case .text:
          let text = texts[Int.random(in: 0..<texts.count, using: &generator)]
          short.set(column, text)
          long.set(column, text)
        case .float8:
          let value =
            Bool.random(using: &generator)
            ? numbers[Int.random(in: 0..<numbers.count, using: &generator)]
            : Double(Int.random(in: -2_000_000_000...2_000_000_000, using: &generator)) / 1e7
          short.set(column, value)
          long.set(column, value)
        case .int4, .int2:
          let value = Int(Int32.random(in: .min ... .max, using: &generator))
          short.set(column, integer: value)
          long.set(column, integer: value)
        case .timestamp:
          let value = Timestamp(
            microseconds: instants[Int.random(in: 0..<instants.count, using: &generator)])
          short.set(column, value)
          long.set(column, value)
        case .bool:
          let value = Bool.random(using: &generator)
          short.set(column, value)
          long.set(column, value)
        }
      }
      var written: [[UInt8]] = []
      for record in [short, long] {
        var json = JSONWriter()
        // After another value, with its comma.
        json.array { _ in }
        json.beginArray()
        json.quake(record)
        json.quake(record)
        json.endArray()
        json.newline()
        written.append(json.bytes)
      }
      #expect(written[0] == written[1], "\(String(decoding: written[1], as: UTF8.self))")
    }
  }

  @Test func jsonOfChangesNamesTheTransactionOfEach() throws {
    func change(_ transaction: ChangeTransaction, _ position: Int64) -> Change {
      Change(
        transaction: transaction, position: position, op: .truncate, code: nil, changed: [],
        old: nil, new: nil)
    }
    let transactions = [try transaction(full: true), try transaction(full: false)]
    let order = [0, 0, 1, 0, 1, 1]
    var together = JSONWriter()
    var apart: [UInt8] = []
    for (position, index) in order.enumerated() {
      together.change(change(transactions[index], Int64(position)))
      together.newline()
      var json = JSONWriter()
      json.change(change(transactions[index], Int64(position)))
      json.newline()
      apart += json.bytes
    }
    #expect(together.bytes == apart)
    #expect(String(decoding: apart, as: UTF8.self).contains("\"position\":3,\"op\":\"truncate\""))
  }
}
