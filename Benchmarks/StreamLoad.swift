import Basics
import CLinux
import Glibc
import Postgres

/// Many clients of one server's stream of changes, in one loop.
final class StreamLoad {
  struct Settings {
    var port: UInt16
    var conninfo: String
    var clients = 10_000
    var filters = 1000
    var process: Int32
    var broadcasts = 30
    var commits = 1000
    var idleSeconds = 30
    var stalled = 200

    /// `stream-load DATABASE PORT PROCESS [CLIENTS [FILTERS [COMMITS [IDLE_SECONDS]]]]`; nil: another command line.
    init?(_ arguments: [String]) {
      guard arguments.first == "stream-load" else { return nil }
      let numbers = arguments.dropFirst(2).map { Int($0) ?? -1 }
      guard (2...6).contains(numbers.count), numbers.allSatisfy({ $0 >= 0 }),
        let port = UInt16(exactly: numbers[0]), let process = Int32(exactly: numbers[1])
      else {
        print(
          """
          usage: quake-bench stream-load DATABASE PORT PROCESS [CLIENTS [FILTERS [COMMITS [IDLE_SECONDS]]]]
          """)
        exit(64)
      }
      conninfo = arguments[1]
      self.port = port
      self.process = process
      if numbers.count > 2 { clients = numbers[2] }
      if numbers.count > 3 { filters = numbers[3] }
      if numbers.count > 4 { commits = numbers[4] }
      if numbers.count > 5 { idleSeconds = numbers[5] }
    }
  }

  private let settings: Settings
  private let connection: Connection
  private let epoll = quake_epoll_create()
  private var clients: [LoadClient] = []
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
  private var events = [quake_epoll_event](repeating: quake_epoll_event(), count: 256)
  private var received = 0
  private var delays: [Double] = []
  private var sent = MonotonicClock.now()
  private var reconnects = 0

  init(_ settings: Settings) throws {
    self.settings = settings
    connection = try Connection(
      ConnectionSettings(settings.conninfo, applicationName: "stream-load"))
    var limit = rlimit()
    let which = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    getrlimit(which, &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(which, &limit)
  }

  func run() throws {
    let empty = memory()
    for index in 0..<settings.clients {
      // Filters that all changes of the broadcasts pass, all different.
      clients.append(LoadClient(least: index < settings.filters ? index + 1 : 0))
      try connect(index, after: nil)
      if index % 100 == 99 { turn(0) }
    }
    try wait("all clients are greeted") { clients.allSatisfy(\.isGreeted) }
    let full = memory()
    print("\(settings.clients) clients, \(settings.filters) different filters")
    print("memory per client: \((full - empty) * 1024 / settings.clients) bytes")

    let before = processorTime()
    let end = Deadline(after: .seconds(settings.idleSeconds))
    while !end.hasPassed { turn(100) }
    let idle = processorTime() - before
    print("idle: \(Self.text(idle * 100 / Double(settings.idleSeconds))) % of a processor")

    try broadcast("broadcasts", settings.broadcasts)
    for index in 0..<settings.stalled { clients[clients.count - 1 - index].isStalled = true }
    // Enough to fill the sockets of those that do not read. The filtered clients get none of it.
    let flood = 500
    let had = clients.map(\.changes)
    try commit(flood, magnitude: 0)
    try wait("the readers have what fills the sockets of the others") {
      clients.indices.allSatisfy {
        clients[$0].isStalled || clients[$0].least > 0 || clients[$0].changes >= had[$0] + flood
      }
    }
    try broadcast("with \(settings.stalled) clients that do not read", settings.broadcasts / 2)
    for index in clients.indices where clients[index].isStalled {
      clients[index].isStalled = false
      receive(index)
    }
    try checkExactness()
  }

  // MARK: - Clients

  private func connect(_ index: Int, after id: String?) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = settings.port.bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw BenchFailure("could not connect: \(errno)") }
    let least = clients[index].least
    let query = least == 0 ? "" : "?min-magnitude=\(Double(least) / 1000)"
    let field = id.map { "Last-Event-ID: \($0)\r\n" } ?? ""
    let request = "GET /v1/changes\(query) HTTP/1.1\r\nHost: localhost\r\n\(field)\r\n"
    _ = request.withCString { send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    clients[index].descriptor = descriptor
    clients[index].hasHeader = false
    clients[index].partial = []
    guard quake_epoll_add_socket(epoll, descriptor, UInt64(index), 1) == 0 else {
      throw BenchFailure("could not wait for a socket: \(errno)")
    }
  }

  private func disconnect(_ index: Int) {
    guard clients[index].descriptor >= 0 else { return }
    close(clients[index].descriptor)
    clients[index].descriptor = -1
  }

  private func turn(_ milliseconds: Int32) {
    let count = Int(quake_epoll_wait(epoll, &events, milliseconds))
    for event in events[..<count] where event.is_readable != 0 || event.has_ended != 0 {
      receive(Int(event.key))
    }
  }

  private func receive(_ index: Int) {
    while !clients[index].isStalled, clients[index].descriptor >= 0 {
      let count = recv(clients[index].descriptor, buffer.baseAddress, buffer.count, 0)
      guard count > 0 else {
        // A client that was dropped goes on with its last id.
        if count == 0 || errno != EAGAIN {
          disconnect(index)
          reconnects += 1
          try? connect(index, after: clients[index].lastID)
        }
        return
      }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      let now = MonotonicClock.now()
      clients[index].take(bytes) {
        received += 1
        delays.append((now - sent).inSeconds * 1000)
      }
      if count < buffer.count { return }
    }
  }

  private func wait(
    _ what: String, within limit: Duration = .seconds(120), _ isDone: () -> Bool
  ) throws {
    let deadline = Deadline(after: limit)
    while !isDone() {
      guard !deadline.hasPassed else { throw BenchFailure("timed out: \(what)") }
      turn(50)
    }
  }

  // MARK: - Measurements

  private var number = 0

  private func commit(_ count: Int, magnitude: Double) throws {
    number += 1
    let text = "load \(number) \(getpid()) "
    try connection.execute(
      """
      insert into quake.quake (code, time, magnitude, place)
      select \(text) || i, '2026-01-01T00:00:00Z'::timestamptz, \(magnitude)::float8,
             '120 km south-southwest of a place with a name of the usual length'
        from generate_series(1, \(count)::int) i
      """)
  }

  private func broadcast(_ title: String, _ count: Int) throws {
    let readers = clients.count { !$0.isStalled }
    // Changes that were committed before come first.
    let quiet = Deadline(after: .seconds(3))
    while !quiet.hasPassed { turn(50) }
    delays = []
    let before = processorTime()
    for _ in 0..<count {
      received = 0
      sent = MonotonicClock.now()
      try commit(1, magnitude: 9)
      try wait("a broadcast") { received >= readers }
      let pause = Deadline(after: .milliseconds(100))
      while !pause.hasPassed { turn(20) }
    }
    let time = processorTime() - before
    func percentile(_ share: Double) -> String { Self.text(delays.quantile(share)) }
    print(
      """
      \(title): \(count) to \(readers) readers, from before the commit to the receipt: \
      p50 \(percentile(0.5)) ms, p99 \(percentile(0.99)) ms, most \(percentile(1)) ms; \
      \(Self.text(time * 1000 / Double(count))) ms of the server's processor time each
      """)
  }

  // MARK: - Exactness

  /// Commits transactions of all sizes while a tenth of the clients reconnect, and compares what each client
  /// has with the history.
  private func checkExactness() throws {
    // From here on all begin anew: what they had is not compared.
    let start = try connection.row("select quake.latest_token()", as: String.self)
    for index in clients.indices {
      clients[index].changes = 0
      clients[index].digest = LoadClient.emptyDigest
      clients[index].lastID = start
      disconnect(index)
      clients[index].least = index < settings.filters ? index * 10 : 0
      try connect(index, after: start)
      if index % 100 == 99 { turn(0) }
    }
    reconnects = 0
    let begun = MonotonicClock.now()
    for commit in 0..<settings.commits {
      let size = commit % 100 == 50 ? 200 : commit % 10 == 5 ? 7 : 1
      try self.commit(size, magnitude: Double(commit % 10))
      // In all, a tenth of the clients for each hundredth of the commits.
      for _ in 0..<(clients.count / 10 * 100 / settings.commits / 100 + 1) {
        let index = Int.random(in: clients.indices)
        reconnects += 1
        disconnect(index)
        try connect(index, after: clients[index].lastID)
      }
      turn(0)
    }
    let expected = try expectedDigests(after: start)
    try wait("all clients have the whole history", within: .seconds(300)) {
      clients.allSatisfy { $0.changes >= expected[$0.least]?.changes ?? 0 }
    }
    let wrong = clients.filter { client in
      guard let each = expected[client.least] else { return true }
      return each.changes != client.changes || each.digest != client.digest
    }
    let time = (MonotonicClock.now() - begun).inSeconds
    print(
      """
      exactness: \(settings.commits) commits in \(Self.text(time)) s, \(reconnects) reconnections, \
      \(clients.reduce(0) { $0 + $1.changes }) changes received; \(wrong.count) clients differ from the history
      """)
    guard wrong.isEmpty else { throw BenchFailure("clients have lost or repeated changes") }
  }

  private func expectedDigests(
    after start: String
  ) throws -> [Int: (changes: Int, digest: UInt64)] {
    let rows = try connection.rows(
      """
      select c.token || case when c.position + 1 = count(*) over (partition by c.token) then ''
                             else '-' || c.position + 1 end,
             (coalesce((c.new).magnitude, 0) * 1000)::bigint
        from quake.changes_since(\(start)) with ordinality c
       order by c.ordinality
      """, as: (String, Int64).self)
    var result: [Int: (changes: Int, digest: UInt64)] = [:]
    for client in clients where result[client.least] == nil {
      result[client.least] = (0, LoadClient.emptyDigest)
    }
    let limits = result.keys.sorted()
    for (id, magnitude) in rows {
      for limit in limits where Int64(limit) <= magnitude {
        result[limit]?.changes += 1
        if var digest = result[limit]?.digest {
          LoadClient.add(id.utf8, to: &digest)
          result[limit]?.digest = digest
        }
      }
    }
    return result
  }

  // MARK: - The server's process

  private static func text(_ number: Double) -> String {
    "\((number * 100).rounded() / 100)"
  }

  /// The private memory of the server in kilobytes.
  private func memory() -> Int {
    ProcFile.lines("\(settings.process)/smaps_rollup").filter { $0.hasPrefix("Private_") }
      .reduce(0) { $0 + ($1.split(separator: " ").compactMap { Int($0) }.first ?? 0) }
  }

  /// The processor time of the server in seconds.
  private func processorTime() -> Double { ServerProcesses.cpu(of: settings.process) }
}

/// One client of the stream: a socket, and what it has received.
struct LoadClient {
  var descriptor: Int32 = -1
  /// The smallest magnitude that it asks for, in thousandths.
  var least: Int
  /// Whether the answer's header has been read.
  var hasHeader = false
  /// The beginning of an event that has not come whole.
  var partial: [UInt8] = []
  /// The id of the last event.
  var lastID = ""
  /// The changes that it has, and a digest of their ids in their order.
  var changes = 0
  var digest = LoadClient.emptyDigest
  /// Whether it reads.
  var isStalled = false
  var isGreeted = false

  static let emptyDigest: UInt64 = 0xCBF2_9CE4_8422_2325

  /// Adds an id to a digest (FNV-1a).
  static func add(_ id: some Sequence<UInt8>, to digest: inout UInt64) {
    for byte in id { digest = (digest ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    digest = (digest ^ 10) &* 0x0000_0100_0000_01B3
  }

  /// Takes in bytes; calls `onChange` for each whole change.
  mutating func take(_ bytes: UnsafeRawBufferPointer, onChange: () -> Void) {
    if partial.isEmpty {
      let used = parse(bytes, onChange)
      if used < bytes.count { partial.append(contentsOf: bytes[used...]) }
    } else {
      partial.append(contentsOf: bytes)
      let all = partial
      let used = all.withUnsafeBytes { parse($0, onChange) }
      partial.removeFirst(used)
      if partial.isEmpty { partial = [] }
    }
  }

  /// - Returns: How many bytes were whole events.
  private mutating func parse(_ bytes: UnsafeRawBufferPointer, _ onChange: () -> Void) -> Int {
    var position = 0
    if !hasHeader {
      guard let end = Self.find("\r\n\r\n", in: bytes, from: 0) else { return 0 }
      hasHeader = true
      position = end + 4
    }
    while let end = Self.find("\n\n", in: bytes, from: position) {
      event(UnsafeRawBufferPointer(rebasing: bytes[position..<end + 2]), onChange)
      position = end + 2
    }
    return position
  }

  private static func find(
    _ text: StaticString, in bytes: UnsafeRawBufferPointer, from start: Int
  ) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    let size = text.utf8CodeUnitCount
    var position = start
    while position < bytes.count,
      let found = memchr(base + position, Int32(text.utf8Start.pointee), bytes.count - position)
    {
      position = UnsafeRawPointer(found) - base
      guard position + size <= bytes.count else { return nil }
      if memcmp(found, text.utf8Start, size) == 0 { return position }
      position += 1
    }
    return nil
  }

  private mutating func event(_ bytes: UnsafeRawBufferPointer, _ onChange: () -> Void) {
    // A change begins with its id; other events begin with their names.
    let isChange = bytes[0] == UInt8(ascii: "i")
    var start = 0
    if !isChange {
      isGreeted = true
      guard let line = bytes.firstIndex(of: 10), bytes[line + 1] == UInt8(ascii: "i") else {
        return
      }
      start = line + 1
    }
    guard let end = bytes[start...].firstIndex(of: 10) else { return }
    let id = bytes[(start + 4)..<end]
    lastID = String(decoding: id, as: UTF8.self)
    guard isChange else { return }
    changes += 1
    Self.add(id, to: &digest)
    onChange()
  }
}
