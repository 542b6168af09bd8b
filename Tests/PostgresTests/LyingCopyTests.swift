import TestSupport
import Testing

@testable import Postgres

/// The peer answers a COPY, and lies about its rows.
@Suite("A malicious server's COPY")
struct LyingCopyTests {
  private typealias Wire = PostgresWire
  private typealias Server = LyingServer

  private static let header: [UInt8] =
    [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00] + Wire.int32(0)
    + Wire.int32(0)
  private static let trailer = Wire.int16(-1)
  private static let end =
    Wire.Message("c").bytes() + Server.complete("COPY 1") + Server.ready

  /// The server begins a COPY of columns in a format.
  private static func begin(_ columns: Int16 = 2, format: Int16 = 1) -> [UInt8] {
    Wire.Message(
      "H",
      [UInt8(format)] + Wire.int16(columns)
        + (0..<max(0, columns)).flatMap { _ in Wire.int16(format) }
    ).bytes()
  }

  private static func data(_ bytes: [UInt8]) -> [UInt8] { Wire.Message("d", bytes).bytes() }

  private static func row(_ values: [[UInt8]?], count: Int16? = nil) -> [UInt8] {
    Wire.int16(count ?? Int16(values.count))
      + values.flatMap { value in
        Wire.int32(value.map { Int32($0.count) } ?? -1) + (value ?? [])
      }
  }

  private static let good = row([Wire.int32(7), nil])

  /// A client must not wait for ever. On an idle machine it takes less than 20 seconds.
  private static let patience = Tools.isSoak ? Duration.seconds(20) : ToolProcess.patience

  private func connect(
    _ server: LyingServer, timeout: Duration = ToolProcess.patience
  ) throws -> Connection {
    let connection = try Connection(
      ConnectionSettings(server.conninfo + " connect_timeout=180", applicationName: "tests"))
    connection.answerTimeout = timeout
    return connection
  }

  /// How many rows are read of a COPY that is answered with these bytes, and the error.
  private func read(
    answering bytes: [UInt8], closing: Bool = true, timeout: Duration = ToolProcess.patience
  ) throws -> (rows: Int, error: PostgresError?) {
    let server = try LyingServer(answering: { wire, _ in wire.send(bytes) && !closing })
    let connection = try connect(server, timeout: timeout)
    var count = 0
    let begun = ContinuousClock.now
    do {
      try connection.copyOut("select 1, 2", columns: 2, rowLimit: 1 << 20) { rows in
        while try rows.nextRow() {
          #expect(rows.value(0).integer == 7 && rows.value(1).isNull)
          count += 1
        }
      }
    } catch let error as PostgresError {
      #expect(!error.message.isEmpty)
      #expect(begun.duration(to: .now) < Self.patience, "\(error)")
      return (count, error)
    }
    return (count, nil)
  }

  @Test("that tells the truth is read, however its messages are cut between header and rows")
  func truth() throws {
    let row = Self.data(Self.good)
    let answers = [
      Self.data(Self.header + Self.good) + row + Self.data(Self.trailer),
      Self.data(Self.header) + row + row + Self.data(Self.trailer),
    ]
    for answer in answers {
      let (rows, error) = try read(answering: Self.begin() + answer + Self.end)
      #expect(rows == 2 && error == nil, "\(error as Any)")
    }
    let extended =
      Array(Self.header.dropLast(4)) + Wire.int32(3) + [1, 2, 3] + Self.trailer
    #expect(try read(answering: Self.begin() + Self.data(extended) + Self.end).error == nil)
  }

  @Test("with a wrong count of columns or wrong lengths causes an error that says so")
  func wrongRows() throws {
    let value = Wire.int32(4) + Wire.int32(7)
    let rows: [(bytes: [UInt8], message: String)] = [
      (Self.row([Wire.int32(7)]), "of 1 columns instead of 2"),
      (Self.row([Wire.int32(7), nil, nil]), "of 3 columns instead of 2"),
      (Self.row([], count: 0), "of 0 columns instead of 2"),
      (Self.row([], count: -2), "of -2 columns instead of 2"),
      (Self.row([], count: .max), "of 32767 columns instead of 2"),
      (Wire.int16(2) + value, "cut short"),
      (Wire.int16(2) + value + [0, 0, 0], "cut short"),
      (Wire.int16(2) + value + Wire.int32(-2), "-2 bytes"),
      (Wire.int16(2) + value + Wire.int32(.min), "-2147483648 bytes"),
      (Wire.int16(2) + value + Wire.int32(.max), "2147483647 bytes"),
      (Wire.int16(2) + value + Wire.int32(2) + [1], "2 bytes"),
      (Self.good + [0], "1 bytes after"),
      ([2], "cut short"),
      (Self.trailer + [0], "of -1 columns"),
    ]
    for (bytes, message) in rows {
      let answer =
        Self.begin() + Self.data(Self.header + Self.good) + Self.data(bytes)
        + Self.data(Self.trailer) + Self.end
      let (count, error) = try read(answering: answer, closing: false)
      #expect(error?.kind == .connection)
      #expect(error?.message.contains(message) == true, "\(error as Any)")
      #expect(count == 1)
    }
  }

  @Test("that does not begin or end as one causes an error")
  func frames() throws {
    let good = Self.data(Self.header + Self.good)
    var flags = Self.header
    flags[11] = 1
    var extra = Self.header
    extra.replaceSubrange(15..<19, with: Wire.int32(.max))
    let answers: [[UInt8]] = [
      // No signature, an unknown flag, an extension that is not there.
      Self.begin() + Self.data(Self.good) + Self.end,
      Self.begin() + Self.data([1]) + Self.end,
      Self.begin() + Self.data(flags + Self.good) + Self.end,
      Self.begin() + Self.data(extra + Self.good) + Self.end,
      // No end, rows after the end, no rows at all.
      Self.begin() + good + Self.end, Self.begin() + Self.end,
      Self.begin() + good + Self.data(Self.trailer) + Self.data(Self.good) + Self.end,
      // Text, other columns, the wrong way.
      Self.begin(format: 0) + Self.data(Array("7\t\\N\n".utf8)) + Self.end,
      Self.begin(3) + good + Self.end, Self.begin(-1) + good + Self.end,
      Wire.Message("G", [1, 0, 2, 0, 1, 0, 1]).bytes() + Server.ready,
      Wire.Message("W", [1, 0, 2, 0, 1, 0, 1]).bytes() + Server.ready,
      // Another answer.
      Server.complete("SELECT 1") + Server.ready,
      Server.columns(1) + Server.row([[1]]) + Server.complete("SELECT 1") + Server.ready,
      Server.ready, [], Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
      // Lengths of messages.
      Self.begin() + Wire.Message("d", Self.good).bytes(length: 3),
      Self.begin() + Wire.Message("d", Self.good).bytes(length: .min),
      Self.begin() + Wire.Message("d", Self.good).bytes(length: .max),
      // A second COPY after the first.
      Self.begin() + good + Self.data(Self.trailer) + Wire.Message("c").bytes() + Self.begin(),
    ]
    for (index, answer) in answers.enumerated() {
      #expect(try read(answering: answer).error != nil, "answer \(index)")
    }
  }

  @Test("that stops in the middle does not block for ever")
  func silence() throws {
    let answer =
      Self.begin() + Self.data(Self.header + Self.good) + Self.data(Self.trailer) + Self.end
    for count in [0, 3, 12, 30, 45, answer.count - 20, answer.count - 3] {
      let (_, error) = try read(
        answering: Array(answer[..<count]), closing: false, timeout: .milliseconds(500))
      #expect(error?.kind == .timeout, "after \(count) bytes: \(error as Any)")
    }
  }

  @Test("of a row without end is left")
  func endlessRow() throws {
    let server = try LyingServer(answering: { wire, _ in
      wire.send(Self.begin() + [0x64] + Wire.int32(.max) + Self.header + Wire.int16(2))
      while wire.send(Array(repeating: 0, count: 65_536)) {}
      return false
    })
    let connection = try connect(server, timeout: .milliseconds(500))
    let error = try #require(throws: PostgresError.self) {
      try connection.copyOut("select 1, 2", columns: 2, rowLimit: 1 << 20) { rows in
        while try rows.nextRow() {}
      }
    }
    #expect([.tooLarge, .timeout, .connection].contains(error.kind))
    // And it is not taken for a connection that could be used again.
    #expect(throws: PostgresError.self) { try connection.execute("select 1") }
  }

  @Test("of rows without end is left when the caller stops, or needs the connection")
  func endlessRows() throws {
    let rows = Array(repeatElement(Self.data(Self.good), count: 1000).joined())
    struct Enough: Error {}
    let begun = ContinuousClock.now
    try BackgroundThread.run(2) { number in
      let server = try LyingServer { wire in
        // A cancel request changes nothing.
        guard LyingServer.welcome(wire) else { return }
        while let message = wire.receive(), message.type != 0x53 {}
        wire.send(Server.session)
        _ = wire.receive()
        wire.send(Self.begin() + Self.data(Self.header))
        wire.sendWithoutEnd(rows)
      }
      let connection = try connect(server)
      if number == 0 {
        #expect(throws: Enough.self) {
          try connection.copyOut("select 1, 2", columns: 2) { rows in
            _ = try rows.nextRow()
            throw Enough()
          }
        }
      } else {
        _ = try connection.prefetchCopy("select 1, 2", columns: 2)
      }
      #expect(throws: PostgresError.self) { try connection.execute("select 1") }
    }
    #expect(begun.duration(to: .now) < Self.patience)
  }
}
