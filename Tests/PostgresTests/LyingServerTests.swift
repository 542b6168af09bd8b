import TestSupport
import Testing

@testable import Postgres

/// The peer may not be a PostgreSQL server, or may be malicious.
@Suite("A malicious server")
struct LyingServerTests {
  private typealias Wire = PostgresWire
  private typealias Server = LyingServer

  /// A client must not wait for ever. On an idle machine it takes less than 20 seconds.
  private static let patience = Tools.isSoak ? Duration.seconds(20) : ToolProcess.patience

  /// - Parameters:
  ///   - timeout: How long the client waits for an answer.
  ///   - seconds: How long it waits for the end of the greeting.
  private func connect(
    _ server: LyingServer, timeout: Duration = ToolProcess.patience, greeting seconds: Int = 180
  ) throws -> Connection {
    let connection = try Connection(
      ConnectionSettings(
        server.conninfo + " connect_timeout=\(seconds)", applicationName: "tests"))
    connection.answerTimeout = timeout
    return connection
  }

  /// Runs a statement whose answer is these bytes, and returns the error.
  private func error(
    answering bytes: [UInt8], closing: Bool = false, timeout: Duration = .seconds(3),
    _ run: (Connection) throws -> Void = { _ = try $0.execute("select 1", format: .binary) }
  ) throws -> PostgresError {
    let server = try LyingServer(answering: { wire, _ in wire.send(bytes) && !closing })
    let connection = try connect(server, timeout: timeout)
    let begun = ContinuousClock.now
    do {
      try run(connection)
    } catch let error as PostgresError {
      #expect(!error.message.isEmpty)
      #expect(begun.duration(to: .now) < Self.patience, "\(error)")
      return error
    }
    throw NoError()
  }

  private struct NoError: Error {}

  private func stream(_ connection: Connection) throws {
    try connection.stream("select 1") { rows in
      for row in 0..<rows.rowCount { _ = rows.binary(row, 0).integer }
    }
  }

  @Test("that stays silent at any point does not block for ever")
  func silence() throws {
    let silent = try SilentServer()
    let conninfo = "host=127.0.0.1 port=\(silent.port) sslmode=disable connect_timeout=1"
    let refused = try #require(throws: PostgresError.self) {
      try Connection(ConnectionSettings(conninfo, applicationName: "tests"))
    }
    #expect(refused.kind == .timeout)
    // In the middle of its greeting. Each takes the two seconds that libpq waits at least.
    let counts = [1, 5, 9, 20, 60]
    try BackgroundThread.run(counts.count) { number in
      let count = counts[number]
      let server = try LyingServer { wire in
        _ = wire.receiveStartup()
        wire.send(Array(Server.welcome[..<count]))
        _ = wire.receive()
      }
      let error = try #require(throws: PostgresError.self) { try connect(server, greeting: 2) }
      #expect(error.kind == .timeout, "after \(count) bytes")
    }
    // In the middle of an answer.
    let answer = Server.parsed + Server.columns(1) + Server.row([[1]]) + Server.complete("SELECT 1")
    for count in [0, 3, 12, 30, answer.count] {
      for run in [stream, { _ = try $0.execute("select 1") }] as [(Connection) throws -> Void] {
        let server = try LyingServer(answering: { wire, _ in wire.send(Array(answer[..<count])) })
        let connection = try connect(server, timeout: .milliseconds(200))
        let error = try #require(throws: PostgresError.self) { try run(connection) }
        #expect(error.kind == .timeout, "after \(count) bytes: \(error)")
      }
    }
  }

  @Test("whose greeting never ends is left")
  func endlessWelcome() throws {
    let server = try LyingServer { wire in
      _ = wire.receiveStartup()
      wire.send(Wire.Message("R", Wire.int32(0)).bytes())
      var number = 0
      while wire.send(Server.setting("application_name", "\(number)")) { number += 1 }
    }
    let begun = ContinuousClock.now
    let error = try #require(throws: PostgresError.self) { try connect(server, greeting: 2) }
    #expect(error.kind == .timeout)
    #expect(begun.duration(to: .now) < Self.patience)
  }

  @Test(
    "that talks without end is left when its time is over",
    arguments: ["notice", "setting", "notification"])
  func endlessTalk(kind: String) throws {
    let message: [UInt8] =
      switch kind {
      case "notice": Wire.Message("N", Array("SWARNING\0C01000\0Mlook\0\0".utf8)).bytes()
      case "setting": Server.setting("TimeZone", "UTC")
      default: Wire.Message("A", Wire.int32(1) + Wire.text("c") + Wire.text("p")).bytes()
      }
    let many = Array(repeatElement(message, count: 100).joined())
    let server = try LyingServer(answering: { wire, _ in
      while wire.send(many) {}
      return false
    })
    let connection = try connect(server, timeout: .milliseconds(500))
    let error = try #require(throws: PostgresError.self) { try connection.execute("select 1") }
    #expect(error.kind == .timeout, "\(error)")
  }

  @Test("that sends too large an answer is left, whatever the time limit")
  func tooMuch() throws {
    // 64 KiB each, which libpq drops.
    let notice = Wire.Message(
      "N", Array("SWARNING\0C01000\0M".utf8) + Array(repeating: 0x78, count: 65_536) + [0, 0]
    ).bytes()
    let server = try LyingServer(answering: { wire, _ in
      while wire.send(notice) {}
      return false
    })
    let connection = try connect(server, timeout: .seconds(3600))
    let error = try #require(throws: PostgresError.self) { try connection.execute("select 1") }
    #expect(error.kind == .connection)
    #expect(error.message.contains("512 MiB"))
  }

  @Test("that sends results without end is left")
  func endlessResults() throws {
    let results: [[UInt8]] = [
      Server.complete("SELECT 1"), Server.columns(1) + Server.complete("SELECT 0"),
      Wire.Message("I").bytes(), Wire.Message("G", [1, 0, 0]).bytes(),
    ]
    for result in results {
      for run in [
        stream, { _ = try $0.execute("select 1") }, { try $0.executeScript("select 1") },
      ] as [(Connection) throws -> Void] {
        let server = try LyingServer(answering: { wire, _ in
          wire.send(Server.parsed)
          while wire.send(Array(repeatElement(result, count: 100).joined())) {}
          return false
        })
        let connection = try connect(server, timeout: .seconds(3))
        let begun = ContinuousClock.now
        #expect(throws: PostgresError.self) { try run(connection) }
        #expect(begun.duration(to: .now) < Self.patience)
        // And it is not taken for a connection that could be used again.
        #expect(throws: PostgresError.self) { try connection.execute("select 1") }
      }
    }
  }

  @Test("that answers a query with a COPY causes an error", arguments: ["G", "H", "W"])
  func copies(type: Character) throws {
    let copy = Server.parsed + Wire.Message(type, [1, 0, 1, 0, 1]).bytes()
    let data = Wire.Message("d", [1, 2, 3]).bytes()
    for run in [
      stream, { _ = try $0.execute("select 1") }, { try $0.executeScript("select 1") },
    ] as [(Connection) throws -> Void] {
      // With an end, without one, with one that never comes.
      let whole =
        copy + data + Wire.Message("c").bytes() + Server.complete("COPY 1") + Server.ready
      _ = try error(answering: whole, run)
      _ = try error(answering: copy, run)
      let server = try LyingServer(answering: { wire, _ in
        wire.send(copy)
        wire.sendWithoutEnd(data)
        return false
      })
      let connection = try connect(server, timeout: .milliseconds(500))
      let begun = ContinuousClock.now
      #expect(throws: PostgresError.self) { try run(connection) }
      #expect(begun.duration(to: .now) < Self.patience)
    }
  }

  @Test("that continues to send rows after a cancel request is left")
  func rowsAfterTheEnd() throws {
    let rows = Array(repeatElement(Server.row([[0, 0, 0, 1]]), count: 100).joined())
    let server = try LyingServer { wire in
      // A cancel request is taken, and never answered.
      guard let packet = wire.receiveStartup(), packet.starts(with: [0, 3]) else {
        _ = wire.receive()
        return
      }
      wire.send(Server.welcome)
      while let message = wire.receive(), message.type != 0x53 {}
      wire.send(Server.session)
      while let message = wire.receive(), message.type != 0x53 {}
      wire.send(Server.parsed + Server.columns(1, type: 23))
      while wire.send(rows) {}
    }
    let connection = try connect(server, timeout: .seconds(3600))
    struct Enough: Error {}
    let begun = ContinuousClock.now
    #expect(throws: Enough.self) { try connection.stream("select 1") { _ in throw Enough() } }
    #expect(begun.duration(to: .now) < Self.patience)
    #expect(throws: PostgresError.self) { try connection.execute("select 1") }
  }

  @Test("that does not answer a cancel request does not block the end")
  func silentCancel() throws {
    let server = try LyingServer { wire in
      guard let packet = wire.receiveStartup(), packet.starts(with: [0, 3]) else {
        _ = wire.receive()
        return
      }
      wire.send(Server.welcome)
      while let message = wire.receive(), message.type != 0x53 {}
      wire.send(Server.session)
      while wire.receive() != nil {}
    }
    let connection = try connect(server, timeout: .seconds(3600))
    let wake = try Wake()
    connection.interrupt = wake.descriptor
    wake.trigger()
    let begun = ContinuousClock.now
    let error = try #require(throws: PostgresError.self) { try connection.execute("select 1") }
    #expect(error.kind == .interrupted)
    #expect(begun.duration(to: .now) < Self.patience)
  }

  @Test("that sends wrong lengths and counts causes an error")
  func wrongLengths() throws {
    let row = Wire.Message("D", Wire.int16(1) + Wire.int32(4) + [0, 0, 0, 1])
    func described(_ bytes: [UInt8]) -> [UInt8] {
      Server.parsed + Server.columns(1, type: 23) + bytes + Server.complete("SELECT 1")
        + Server.ready
    }
    let answers: [[UInt8]] = [
      // Lengths of messages.
      described(row.bytes(length: 3)), described(row.bytes(length: -1)),
      described(row.bytes(length: .min)), described(row.bytes(length: 5)),
      described(row.bytes(length: .max)),
      // Counts of columns, and lengths of values.
      described(Wire.Message("D", Wire.int16(-1)).bytes()),
      described(Wire.Message("D", Wire.int16(.max)).bytes()),
      described(Wire.Message("D", Wire.int16(2) + Wire.int32(0) + Wire.int32(0)).bytes()),
      described(Wire.Message("D", Wire.int16(0)).bytes()),
      described(Wire.Message("D", Wire.int16(1) + Wire.int32(.max)).bytes()),
      described(Wire.Message("D", Wire.int16(1) + Wire.int32(100) + [1]).bytes()),
      // Descriptions.
      Server.parsed + Wire.Message("T", Wire.int16(-1)).bytes() + Server.ready,
      Server.parsed + Wire.Message("T", Wire.int16(.max)).bytes() + Server.ready,
      Server.parsed + Wire.Message("T", Wire.int16(1) + Wire.text("c")).bytes() + Server.ready,
      Server.parsed + row.bytes() + Server.ready,
      // Bytes that are not a message.
      Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), Array(repeating: 0, count: 100),
      Array(repeating: 0xFF, count: 100), [],
    ]
    for (index, answer) in answers.enumerated() {
      for run in [stream, { _ = try $0.execute("select 1", format: .binary) }]
        as [(Connection) throws -> Void]
      {
        let error = try? error(answering: answer, closing: true, run)
        #expect(error != nil, "answer \(index)")
      }
    }
  }

  @Test("that sends an empty or endless error causes an error of limited length")
  func errors() throws {
    func received(_ message: [UInt8]) throws -> PostgresError {
      try error(
        answering: Wire.Message("E", message).bytes() + Server.ready, timeout: ToolProcess.patience)
    }
    #expect(!(try received([0])).message.isEmpty)
    let end = Array("\0C22000\0Dd\0P-9223372036854775808\0\0".utf8)
    let long = Array("SERROR\0M".utf8) + Array(repeating: 0x78, count: 8 << 20) + end
    let known = try received(long)
    #expect(known.message.utf8.count < 20_000 && known.message.hasSuffix("…"))
    #expect(known.sqlState == "22000" && known.detail == "d" && known.line == nil)
    let garbage = Array("SERROR\0M\u{202E}".utf8) + [0xFF, 0xFE] + end
    let repaired = try received(garbage)
    #expect(repaired.message == "\u{202E}\u{FFFD}\u{FFFD}")
    // Its end never comes.
    let server = try LyingServer(answering: { wire, _ in
      wire.send([0x45] + Wire.int32(.max) + Array("SERROR\0M".utf8))
      while wire.send(Array(repeating: 0x78, count: 65_536)) {}
      return false
    })
    let connection = try connect(server, timeout: .milliseconds(500))
    let endless = try #require(throws: PostgresError.self) { try connection.execute("select 1") }
    #expect(endless.message.utf8.count < 20_000)
  }

  @Test("that sends values of the wrong size yields nulls")
  func values() throws {
    let sizes = (0...9).map { Array(([0x7F] + [UInt8](repeating: 0xFF, count: 8)).prefix($0)) }
    let server = try LyingServer(answering: { wire, _ in
      wire.send(
        Server.parsed + Server.columns(sizes.count) + Server.row(sizes)
          + Server.complete("SELECT 1") + Server.ready)
    })
    let result = try connect(server).execute("select 1", format: .binary)
    for size in 0...9 {
      #expect((result.binaryInteger(0, size) != nil) == [2, 4, 8].contains(size))
      #expect((result.binaryDouble(0, size) != nil) == (size == 8))
      #expect((result.binaryTimestamp(0, size) != nil) == [2, 4, 8].contains(size))
      #expect(result.binaryTextArray(0, size) == nil)
    }
    #expect(result.binaryTimestamp(0, 8) == .max)
    // Columns that were not described, and rows that were not sent.
    for (row, column) in [(0, 10), (0, 99), (1, 0), (99, 99)] {
      #expect(result.text(row, column) == nil && result.binaryInteger(row, column) == nil)
      #expect(result.bytes(row, column).isEmpty && result.columnName(column).count < 2)
    }
  }

  @Test("that sends incomplete arrays and composites yields nulls")
  func structures() throws {
    func array(_ dimensions: Int32, _ count: Int32, _ elements: [UInt8]) -> [UInt8] {
      Wire.int32(dimensions) + Wire.int32(0) + Wire.int32(25) + Wire.int32(count) + Wire.int32(1)
        + elements
    }
    let element = Wire.int32(1) + [0x61]
    let malformed: [[UInt8]] = [
      array(1, -1, element), array(1, .min, element), array(1, .max, element), array(1, 2, element),
      array(1, 1, Wire.int32(.max)), array(1, 1, Wire.int32(2) + [0x61]), array(-1, 1, element),
      array(2, 1, element), array(.max, 1, element), Array(array(1, 1, element)[..<19]), [1],
    ]
    let good = [array(1, 1, element), array(1, 1, Wire.int32(-1)), array(0, 0, [])]
    let composites: [[UInt8]] = [
      Wire.int32(1) + Wire.int32(25) + Wire.int32(.max), Wire.int32(1), Wire.int32(.max),
      Wire.int32(1) + Wire.int32(25) + Wire.int32(2) + [0x61], Wire.int32(-1) + [1, 2, 3],
    ]
    let all = malformed + good + composites
    let server = try LyingServer(answering: { wire, _ in
      wire.send(
        Server.parsed + Server.columns(all.count) + Server.row(all) + Server.complete("SELECT 1")
          + Server.ready)
    })
    let result = try connect(server).execute("select 1", format: .binary)
    for column in malformed.indices {
      #expect(result.binaryTextArray(0, column) == nil, "\(column)")
    }
    let first = malformed.count
    #expect(result.binaryTextArray(0, first) == ["a"])
    #expect(result.binaryTextArray(0, first + 1) == [""])
    #expect(result.binaryTextArray(0, first + 2) == [])
    for column in composites.indices {
      var fields = try #require(CompositeFields(result.binary(0, first + good.count + column)))
      #expect(!fields.isCutShort)
      #expect(fields.next().isNull && fields.isCutShort)
      fields.skip(10)
    }
  }

  @Test("that reports an impossible number of changed rows is limited")
  func commandTags() throws {
    let tags = [
      ("INSERT 0 9223372036854775807", 1 << 48), ("INSERT 0 99999999999999999999", 0),
      ("UPDATE -7", 0), ("DELETE", 0), ("INSERT 0 7", 7), ("", 0),
    ]
    for (tag, expected) in tags {
      let server = try LyingServer(answering: { wire, _ in
        wire.send(Server.parsed + Server.complete(tag) + Server.ready)
      })
      #expect(try connect(server).execute("insert").affectedRows == expected, "\(tag)")
    }
  }

  @Test("that sends results without a statement is refused")
  func unasked() throws {
    let server = try LyingServer(answering: { wire, number in
      let answer =
        Server.parsed + Server.columns(1) + Server.row([[0x61]]) + Server.complete("SELECT 1")
        + Server.ready
      // And again a result without a statement.
      return wire.send(answer + (number == 1 ? Server.row([[0x62]]) + Server.ready : []))
    })
    let connection = try connect(server)
    #expect(try connection.execute("select 1").text(0, 0) == "a")
    // The next answer may lack its end, because the client has taken another end for it.
    connection.answerTimeout = .seconds(3)
    let second = Result { try connection.execute("select 1").text(0, 0) }
    if case .success(let value) = second { #expect(value == "a") }
  }
}
