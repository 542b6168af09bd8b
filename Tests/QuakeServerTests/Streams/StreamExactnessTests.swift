import Basics
import Glibc
import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeServer

/// No client loses a change, gets one twice or out of order, however often it reconnects.
@Suite struct StreamExactnessTests {
  /// A client that reconnects at random moments.
  fileprivate struct Client {
    var order: StreamOrder
    /// What the client has in total, as the oracle gives it.
    var filter: String
    var probe: StreamProbe?
    var lastID = "0"
    var got: [String] = []
    var reconnects = 0
  }

  private static let filters: [(sql: String, set: @Sendable (inout EventFilter) -> Void)] = [
    ("true", { _ in }),
    ("true", { _ in }),
    ("magnitude >= 5", { $0.minimumMagnitude = 5 }),
    ("magnitude <= 1", { $0.maximumMagnitude = 1 }),
    ("op = 'update'", { $0.operations = [.update] }),
    ("author = 'writer 1'", { $0.authors = ["writer 1"] }),
  ]

  @Test(arguments: [Seeds.first(1, of: 1...1000)[0]])
  func nothingIsLostRepeatedOrReordered(seed: UInt64) throws {
    let (commits, count) = isSoak ? (300, 40) : (60, 24)
    var settings = StreamSettings.patient
    settings.windowSize = 400_000
    settings.backlogSize = 500_000
    settings.socketBuffer = 16 << 10
    settings.heartbeat = .milliseconds(300)
    let server = try ProbedServer(settings)
    // Another server on the same database: clients move between them by their cursors.
    let other = try ProbedServer(settings, on: server.database)
    var random = SeededGenerator(seed)
    var clients = (0..<count).map { index in
      let (sql, set) = Self.filters[index % Self.filters.count]
      var order = StreamOrder()
      order.form = index % 5 == 4 ? .lines : .events
      set(&order.filter)
      return Client(order: order, filter: sql)
    }
    let ended = Tally()
    let writers = (0..<4).map { number in
      BackgroundThread {
        defer { ended.add(1) }
        try Self.write(
          commits / 4, number, SeededGenerator(seed &+ UInt64(number)), server.database)
      }
    }
    let finish = Deadline(after: .seconds(900))
    var oracle: [String: [String]]?
    var unfinished = Set(clients.indices)
    while !unfinished.isEmpty {
      guard !finish.hasPassed else { break }
      if oracle == nil, ended.total == 4 {
        for writer in writers { try writer.join() }
        oracle = try Self.oracle(server.database)
      }
      for index in unfinished {
        // One in fifty leaves at some moment, often within an event; each leaves once at least.
        let mustLeave = oracle != nil && clients[index].reconnects == 0
        if clients[index].probe == nil || mustLeave || Int.random(in: 0..<50, using: &random) == 0 {
          clients[index].reconnect(to: Bool.random(using: &random) ? server : other)
        }
        try clients[index].readSome(Int.random(in: 1...60_000, using: &random))
        let client = clients[index]
        if let oracle, client.got.count >= oracle[client.filter]?.count ?? 0, client.reconnects > 0
        {
          unfinished.remove(index)
        }
      }
    }
    let expected = try #require(oracle)
    for client in clients {
      #expect(client.got == expected[client.filter], "\(client.filter), seed \(seed)")
    }
    #expect(clients.allSatisfy { $0.reconnects > 0 })
  }

  private var isSoak: Bool { Tools.isSoak }

  /// Commits transactions of one change, and now and then of very many.
  private static func write(
    _ commits: Int, _ number: Int, _ generator: SeededGenerator, _ database: TestDatabase
  ) throws {
    var random = generator
    let connection = try database.connect()
    try connection.run("set quake.author = 'writer \(number)'")
    for commit in 0..<commits {
      let size =
        commit % 10 == 9 ? Int.random(in: 50...250, using: &random) : 1
      let magnitude = Int.random(in: 0...9, using: &random)
      try connection.run(
        """
        insert into quake.quake (code, time, magnitude)
        select 'w\(number)x' || (\(Int.random(in: 0...50, using: &random)) + i), now(), (\(magnitude) + i) % 10
          from generate_series(1, \(size)) i
            on conflict (code) do update set magnitude = excluded.magnitude + 0.001 * \(commit)
        """)
    }
    try connection.run(
      "insert into quake.quake (code, time, magnitude) values ('end \(number)', now(), 9)")
  }

  /// The history for each of the filters, made by the database.
  private static func oracle(_ database: TestDatabase) throws -> [String: [String]] {
    var changes: [String: [String]] = [:]
    for filter in Set(filters.map(\.sql)) {
      changes[filter] = try database.column(
        """
        select concat_ws(' ', c.token, c.position, c.op, coalesce(c.code, 'null'))
          from quake.changes_since('0') c
         where exists (
           select from (values ((c.new).magnitude), ((c.old).magnitude)) e (magnitude)
            where \(filter))
        """)
    }
    return changes
  }
}

extension StreamExactnessTests.Client {
  fileprivate mutating func reconnect(to server: ProbedServer) {
    if probe != nil { reconnects += 1 }
    probe = nil
    var order = order
    guard let cursor = HistoryCursor(eventID: lastID) else { return }
    order.start = .after(cursor)
    probe = try? server.client(order, buffer: 8192)
  }

  /// Reads at most that number of bytes, and takes the whole events among them.
  fileprivate mutating func readSome(_ bytes: Int) throws {
    guard let probe else { return }
    probe.readSome(atMost: bytes)
    while let event = probe.takeEvent() {
      if let id = event.id { lastID = id }
      switch event.name {
      case "heartbeat": continue
      case "message": break
      default: throw StreamProbe.Failure(description: "unexpected event \(event)")
      }
      let words = event.beginning
      guard words.count == 4 else {
        throw StreamProbe.Failure(description: "not a change: \(event.data)")
      }
      if order.form == .lines {
        // A client of lines makes the cursor from the position, which need not be the last.
        lastID = Int(words[1]).map { "\(words[0])-\($0 + 1)" } ?? words[0]
        if words[2] == "heartbeat" { continue }
      }
      got.append(words.joined(separator: " "))
    }
    if probe.isAtEnd { self.probe = nil }
  }
}
