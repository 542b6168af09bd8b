import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// The tools with a PostgreSQL server that answers wrongly, or is malicious.
@Suite struct LyingServerTests {
  private static let database = try? Self.makeDatabase()

  private static func makeDatabase() throws -> TestDatabase {
    let database = try TestDatabase()
    try database.psql(
      """
      set quake.author = 'ada'; set quake.context = 'why';
      insert into quake.quake (code, net, time, magnitude, place, ids, sig, tsunami, updated)
      select 'e' || n, 'us', now() - n * interval '1 h', n, 'Nowhere', ',e' || n || ',', n, 1, now()
        from generate_series(1, 5) n;
      update quake.quake set magnitude = 6, place = 'Elsewhere' where code < 'e4';
      delete from quake.quake where code = 'e5';
      insert into quake.feed (name, url, every, next_due, polled_at, succeeded_at)
        values ('f', 'http://127.0.0.1/', '1 min', now(), now(), now());
      insert into quake.watcher (name, token) values ('w', 0);
      """)
    return database
  }

  /// A lie about the rows: how their bytes are changed.
  enum Lie: String, CaseIterable, Sendable {
    case shorterValues, longerValues, noValues, emptyValues, allOnes, largest, smallest,
      fewerColumns
    case moreColumns, wrongLengths, wrongCounts, textThatIsNot, structures, noise, noise2, noise3
    case notices, copies, errors, nothing, twice

    func tell(_ message: PostgresWire.Message, _ number: Int) -> [UInt8] {
      guard message.type == UInt8(ascii: "D") else { return message.bytes() }
      switch self {
      case .notices:
        let notice = Array("SWARNING\0C01000\0M\u{1B}[2J\u{202E}\0\0".utf8)
        return PostgresWire.Message("N", notice).bytes() + message.bytes()
      case .copies: return PostgresWire.Message("H", [1, 0, 1, 0, 1]).bytes()
      case .errors:
        let error = Array("SERROR\0CXX000\0M\u{1B}[2J\u{9B}2J\u{202E}evil\0\0".utf8)
        return PostgresWire.Message("E", error).bytes()
      case .nothing: return []
      case .twice: return message.bytes() + message.bytes()
      // The wrong length must not exceed what follows: the client would only wait for more.
      case .wrongLengths: return message.bytes(length: Int32(message.body.count + 7)) + [0, 0, 0]
      default: return row(message, number)
      }
    }

    private func row(_ message: PostgresWire.Message, _ number: Int) -> [UInt8] {
      var values = Self.values(of: message.body)
      var generator = SeededGenerator(UInt64(number * 31 + rawValue.utf8.count))
      func each(_ change: ([UInt8]) -> [UInt8]) { values = values.map { $0.map(change) } }
      switch self {
      case .shorterValues: each { Array($0.dropLast()) }
      case .longerValues: each { $0 + [0] }
      case .noValues: values = values.map { _ in nil }
      case .emptyValues: each { _ in [] }
      case .allOnes: each { Array(repeating: 0xFF, count: $0.count) }
      case .largest: each { Array([0x7F] + Array(repeating: 0xFF, count: max(0, $0.count - 1))) }
      case .smallest: each { Array([0x80] + Array(repeating: 0, count: max(0, $0.count - 1))) }
      case .fewerColumns: values = Array(values.prefix(1))
      case .moreColumns: values += values
      case .wrongCounts:
        return PostgresWire.Message("D", PostgresWire.int16(.max) + message.body.dropFirst(2))
          .bytes()
      case .textThatIsNot: each { $0.count > 3 ? [0xED, 0xA0, 0x80] + $0.dropFirst(3) : $0 }
      case .structures:
        // Lengths and counts within values: some of them become large or negative.
        each { value in
          value.count < 12
            ? value
            : value.indices.map { $0 % 12 == 4 ? (number % 2 == 0 ? 0x7F : 0xFF) : value[$0] }
        }
      case .noise, .noise2, .noise3:
        each { value in
          value.map {
            Int.random(in: 0..<10, using: &generator) == 0
              ? UInt8.random(in: 0...255, using: &generator) : $0
          }
        }
      default: break
      }
      return LyingServer.row(values)
    }

    private static func values(of body: [UInt8]) -> [[UInt8]?] {
      func int(_ offset: Int, _ count: Int) -> Int {
        body[offset..<(offset + count)].reduce(0) { $0 << 8 | Int($1) }
      }
      var offset = 2
      return (0..<int(0, 2)).map { _ in
        let length = int(offset, 4)
        offset += 4
        guard length != 0xFFFF_FFFF else { return nil }
        defer { offset += length }
        return Array(body[offset..<(offset + length)])
      }
    }
  }

  private static let commands: [[String]] = [
    ["quake-watch", "--from-start", "--no-follow"],
    ["quake-watch", "--from-start", "--no-follow", "--json"],
    ["quake-watch", "--snapshot", "--no-follow", "--json"],
    ["quake-watch", "--from-start", "--no-follow", "--exec", "cat"],
    ["quake-watch", "--from-start", "--no-follow", "--exec-batch", "cat"],
    ["quake-watch", "--name", "w", "--no-follow"],
    ["quake-query", "list", "--all"], ["quake-query", "list", "--json"],
    ["quake-query", "history"], ["quake-query", "history", "--json", "--descending"],
    ["quake-query", "history", "--transactions", "--code", "e1"],
    ["quake-query", "versions", "e1"], ["quake-query", "diff", "0"],
    ["quake-query", "show", "e1"], ["quake-admin", "status"], ["quake-admin", "status", "--json"],
    ["quake-admin", "status", "--prometheus"], ["quake-admin", "watchers"],
    ["quake-admin", "imports"], ["quake-admin", "history", "purge", "--before", "1d", "--dry-run"],
  ]

  /// The numbers of true answers before the lies begin. All of them take minutes, so that a normal
  /// run takes a few, which depend on the lie and the command.
  private func truths(of command: Int, _ lie: Lie) -> [Int] {
    if Tools.isSoak { return Array(0...14) }
    let place = command + (Lie.allCases.firstIndex(of: lie) ?? 0)
    return place % 6 == 0 ? [[1, 4, 9][place / 6 % 3]] : []
  }

  /// No lie makes a tool crash, hang, or print what controls a terminal. The first queries of a
  /// tool are answered truly.
  @Test(arguments: Lie.allCases)
  func noLieDoesHarm(_ lie: Lie) throws {
    let database = try #require(Self.database)
    let socket = try TestServer.shared.server.status().socketDirectory + "/.s.PGSQL.5432"
    for (number, command) in Self.commands.enumerated() {
      for truths in truths(of: number, lie) {
        let proxy = try LyingProxy(to: socket) { message, number in
          number < truths ? message.bytes() : lie.tell(message, number)
        }
        let tool = try Tools.start(
          command[0],
          Array(command.dropFirst()) + [
            "--database", proxy.conninfo(database: database.name) + " connect_timeout=2",
          ])
        let outcome: ToolProcess.Outcome
        var signals = 0
        if let ended = try? tool.exit(within: .seconds(2)) {
          outcome = ended
        } else {
          // A watcher tries to connect again, and other tools may wait for the rest of an answer.
          // Then the second signal ends them.
          tool.signal(SIGTERM)
          signals = 1
          if let ended = try? tool.exit(within: .seconds(3)) {
            outcome = ended
          } else {
            tool.signal(SIGTERM)
            signals = 2
            outcome = try tool.exit()
          }
        }
        let what = "\(lie) after \(truths): \(command.joined(separator: " ")): \(outcome.errors)"
        switch outcome.ending {
        // A busy machine may not have let it end after the first.
        case .exited(128 + SIGTERM) where signals == 2: break
        case .exited(let status):
          #expect([0, 1, 65, 69, 70, 75, 77, 78].contains(status), "\(status) \(what)")
          if status != 0 { #expect(outcome.errors.contains("quake-"), "\(what)") }
        case .killed(let signal): #expect(signal == SIGTERM, "\(signal) \(what)")
        }
        for text in [outcome.output, outcome.errors] {
          #expect(
            !text.unicodeScalars.contains {
              $0.value < 0x20 && $0 != "\n" || (0x7F...0x9F).contains($0.value)
                || (0x202A...0x202E).contains($0.value)
            }, "\(what)")
        }
      }
    }
  }
}
