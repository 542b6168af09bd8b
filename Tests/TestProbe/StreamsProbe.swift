import CLinux
import Glibc

/// Clients of `/v1/changes` that resume after their last change when their streams end: `streams PORT N [CURSOR]`.
///
/// When all of them have another change it prints its number and its id. It ends with status 1 when a client gets a
/// change that is not the next one.
final class StreamsProbe {
  private struct Client {
    var descriptor: Int32 = -1
    /// The beginning of the line that is being received.
    var line: [UInt8] = []
    /// The fields of the event that is being received.
    var name = ""
    var id = ""
    /// The cursor, and how many changes have come.
    var cursor: String
    var changes = 0
  }

  private let port: UInt16
  private let epoll = quake_epoll_create()
  private var clients: [Client]
  /// The clients without a connection.
  private var waiting: [Int]
  /// The changes in the order in which the first client got each.
  private var ids: [String] = []
  /// How many clients have as many changes as the index says.
  private var counts: [Int]
  private var printed = 0
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)

  /// The most connections that are opened between two reads.
  private static let mostAtOnce = 100
  /// Only the beginning of a line is of interest.
  private static let longestLine = 100

  init?(_ arguments: [String]) {
    guard (3...4).contains(arguments.count), arguments[0] == "streams",
      let port = UInt16(arguments[1]),
      let count = Int(arguments[2])
    else { return nil }
    self.port = port
    let first = Client(cursor: arguments.count > 3 ? arguments[3] : "0")
    clients = Array(repeating: first, count: count)
    waiting = Array(0..<count)
    counts = [count]
    var limit = rlimit()
    let which = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    getrlimit(which, &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(which, &limit)
    signal(SIGPIPE, SIG_IGN)
  }

  func run() -> Never {
    var ready = Array(repeating: quake_epoll_event(), count: 256)
    while true {
      let tried = waiting.prefix(Self.mostAtOnce)
      waiting.removeFirst(tried.count)
      for index in tried { open(index) }
      let count = quake_epoll_wait(epoll, &ready, 50)
      guard count > 0 else { continue }
      for event in ready[..<Int(count)] { read(Int(event.key)) }
      while printed + 1 < counts.count, counts[printed] == 0 {
        printed += 1
        print(printed, ids[printed - 1])
        fflush(nil)
      }
    }
  }

  /// Asks for the changes after the cursor; without a connection, it is tried again in a later turn.
  private func open(_ index: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // HTTP/1.0, because a proxy sends no chunks to such a client.
    let request =
      "GET /v1/changes?after=\(clients[index].cursor) HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n"
    guard connected == 0, send(descriptor, request, request.utf8.count, 0) > 0,
      quake_epoll_add_wake(epoll, descriptor, UInt64(index)) == 0
    else {
      close(descriptor)
      waiting.append(index)
      return
    }
    clients[index].descriptor = descriptor
    (clients[index].line, clients[index].name, clients[index].id) = ([], "", "")
  }

  private func read(_ index: Int) {
    let count = recv(clients[index].descriptor, buffer.baseAddress, buffer.count, 0)
    guard count > 0 else {
      close(clients[index].descriptor)
      clients[index].descriptor = -1
      waiting.append(index)
      return
    }
    var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
    while let base = rest.baseAddress {
      let end = memchr(base, Int32(UInt8(ascii: "\n")), rest.count).map {
        UnsafeRawPointer($0) - base
      }
      let room = Self.longestLine - clients[index].line.count
      clients[index].line += rest[..<(end ?? rest.count)].prefix(room)
      guard let end else { return }
      if clients[index].line.last == UInt8(ascii: "\r") { clients[index].line.removeLast() }
      take(String(decoding: clients[index].line, as: UTF8.self), of: index)
      clients[index].line.removeAll(keepingCapacity: true)
      rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
    }
  }

  private func take(_ line: String, of index: Int) {
    if line.hasPrefix("event: ") { clients[index].name = String(line.dropFirst(7)) }
    if line.hasPrefix("id: ") { clients[index].id = String(line.dropFirst(4)) }
    guard line.isEmpty else { return }
    let (name, id) = (clients[index].name, clients[index].id)
    (clients[index].name, clients[index].id) = ("", "")
    // The header of the answer ends with an empty line, too.
    guard !id.isEmpty else { return }
    clients[index].cursor = id
    guard name.isEmpty else { return }
    let number = clients[index].changes
    if number == ids.count {
      ids.append(id)
      counts.append(0)
    }
    guard ids[number] == id else {
      print("client \(index) got \(id) as change \(number + 1), and others \(ids[number])")
      exit(1)
    }
    clients[index].changes += 1
    counts[number] -= 1
    counts[number + 1] += 1
  }
}
