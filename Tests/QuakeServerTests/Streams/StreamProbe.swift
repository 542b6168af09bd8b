import Basics
import Glibc
import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeServer

extension StreamSettings {
  /// Times that pass in no test, however busy the machine is. A test sets those that it is about.
  static var patient: StreamSettings {
    var settings = StreamSettings()
    settings.heartbeat = .seconds(3600)
    settings.stallLimit = .seconds(3600)
    settings.backlogTime = .seconds(3600)
    return settings
  }

  /// Those, with sockets that are soon full.
  static var narrow: StreamSettings {
    var settings = patient
    settings.socketBuffer = 8192
    return settings
  }
}

/// Streams of a database, and clients of them over socket pairs.
final class ProbedServer: Sendable {
  let database: TestDatabase
  let streams: ChangeStreams

  /// Starts the streams and waits until they follow the database: what is committed from then on is in memory, what
  /// was committed before is not.
  init(_ settings: StreamSettings = .patient, on database: TestDatabase? = nil) throws {
    self.database = try database ?? TestDatabase()
    streams = try ChangeStreams(
      ConnectionSettings(self.database.conninfo, applicationName: "streams"), settings)
    try streams.start()
    try eventually("the streams follow the database") { streams.state.problem == nil }
  }

  deinit {
    streams.stop(within: .zero)
  }

  func client(_ order: StreamOrder = StreamOrder(), buffer: Int32? = nil) throws -> StreamProbe {
    try StreamProbe(streams, order, buffer: buffer)
  }

  /// A client that has had its first heartbeat.
  func follower(_ order: StreamOrder = StreamOrder()) throws -> StreamProbe {
    let client = try client(order)
    _ = try client.expect("heartbeat")
    return client
  }

  /// A client that begins after a cursor.
  func client(after cursor: String) throws -> StreamProbe {
    var order = StreamOrder()
    order.start = .after(try #require(HistoryCursor(eventID: cursor)))
    return try client(order)
  }

  func run(_ statements: String...) throws {
    let connection = try database.connect()
    for statement in statements { try connection.run(statement) }
  }

  /// Inserts `count` events in one transaction, with codes of that prefix and magnitudes of 1, 2, 3...
  func insert(_ prefix: String, _ count: Int = 1) throws {
    try run(
      """
      insert into quake.quake (code, time, magnitude)
      select '\(prefix)' || i, '2024-01-31T12:00:00Z'::timestamptz + i * interval '1 s', i % 10
        from generate_series(1, \(count)) i
      """)
  }

  /// The history as `StreamProbe.Event.change` gives it.
  func history() throws -> [String] { try database.history() }
}

/// A client of the streams, which reads when it is asked.
final class StreamProbe {
  struct Event {
    var name = "message"
    var id: String?
    /// The transaction before that of a change, if the change is its first.
    var predecessor: String?
    var data = ""

    /// Token, position, operation and code, read without a parser: the soak reads a million of them.
    var beginning: [String] {
      let parts = data.utf8.split(
        separator: UInt8(ascii: "\""), maxSplits: 14, omittingEmptySubsequences: false
      ).map { String(Substring($0)) }
      guard parts.count == 15, parts[1] == "token", parts[5] == "position", parts[7] == "op",
        parts[11] == "code"
      else { return [] }
      let code = parts[12] == ":" ? parts[13] : "null"
      return [parts[3], String(parts[6].dropFirst().dropLast()), parts[9], code]
    }

    /// The change, as `TestDatabase.history()` writes it.
    var change: String { (try? JSONLine(data).change) ?? "no JSON: \(data)" }
  }

  struct Failure: Error {
    var description: String
  }

  private let descriptor: Int32
  private let form: StreamForm
  private var bytes: [UInt8] = []
  private var searched = 0
  private(set) var isAtEnd = false
  /// The id of the last event that had one.
  private(set) var lastID: String?

  init(_ streams: ChangeStreams, _ order: StreamOrder, buffer: Int32? = nil) throws {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
      throw Failure(description: "no socket pair: \(errno)")
    }
    form = order.form
    descriptor = ends[0]
    if var buffer {
      setsockopt(ends[0], SOL_SOCKET, SO_RCVBUF, &buffer, socklen_t(MemoryLayout<Int32>.size))
    }
    let taken = ends[1]
    streams.add(TakenSocket(descriptor: taken) { close(taken) }, order)
  }

  deinit {
    close(descriptor)
  }

  /// The next event; nil at the end of the stream.
  func next(within patience: Duration = ToolProcess.patience) throws -> Event? {
    let deadline = Deadline(after: patience)
    while true {
      if let event = take() {
        if let id = event.id { lastID = id }
        return event
      }
      guard !isAtEnd else { return nil }
      var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&wanted, 1, deadline.pollTimeout) > 0 else {
        throw Failure(description: "no event came in time, after \(lastID ?? "none")")
      }
      readSome()
    }
  }

  /// Reads what is there, at most `most` bytes, without waiting.
  func readSome(atMost most: Int = 64 << 10) {
    withUnsafeTemporaryAllocation(byteCount: most, alignment: 1) { buffer in
      let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 {
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      } else if count == 0 || errno != EAGAIN {
        isAtEnd = true
      }
    }
  }

  /// The next whole event of what was read.
  func takeEvent() -> Event? { take() }

  /// What is left after the last whole event.
  var rest: String { String(decoding: bytes, as: UTF8.self) }

  private func take() -> Event? {
    // With a function of glibc, because tests are not optimised.
    let end = bytes.withUnsafeBytes { bytes -> Int? in
      guard let base = bytes.baseAddress else { return nil }
      var place = searched
      while let byte = memchr(base + place, 0x0A, bytes.count - place) {
        place = UnsafeRawPointer(byte) - base
        if form == .lines || place > 0 && bytes[place - 1] == 0x0A { return place }
        place += 1
      }
      return nil
    }
    guard let end else {
      searched = bytes.count
      return nil
    }
    let text = String(decoding: bytes[...end], as: UTF8.self)
    bytes.removeFirst(end + 1)
    searched = 0
    return Self.event(text, form)
  }

  private static func event(_ text: String, _ form: StreamForm) -> Event {
    var event = Event()
    guard form == .events else {
      event.data = String(text.dropLast())
      return event
    }
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
      let value = parts.count == 2 ? String(parts[1].drop { $0 == " " }) : ""
      switch parts[0] {
      case "event": event.name = value
      case "id": event.id = value
      case "predecessor": event.predecessor = value
      case "data": event.data += value
      default: event.name = "unknown field \(line)"
      }
    }
    return event
  }

  /// The next `count` changes as `TestDatabase.history()` writes them, without heartbeats.
  func changes(_ count: Int) throws -> [String] {
    var found: [String] = []
    while found.count < count {
      guard let event = try next() else {
        throw Failure(description: "the stream ended after \(found.count) of \(count) changes")
      }
      if event.name == "heartbeat" || event.data.contains("\"op\":\"heartbeat\"") { continue }
      found.append(event.change)
    }
    return found
  }

  /// The next event, which must have that name.
  func expect(_ name: String) throws -> Event {
    guard let event = try next() else { throw Failure(description: "the stream has ended") }
    guard event.name == name else {
      throw Failure(description: "expected \(name), not \(event)")
    }
    return event
  }
}
