import Glibc
import TestSupport
import Testing

/// Whether the machine has the address ::1.
private let hasIPv6: Bool = {
  let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in6()
  address.sin6_family = sa_family_t(AF_INET6)
  address.sin6_addr = in6addr_loopback
  let length = socklen_t(MemoryLayout<sockaddr_in6>.size)
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
  }
}()

/// A server that listens on all addresses of the machine.
@Suite(.enabled(if: hasIPv6, "the machine has no IPv6")) struct BothFamiliesTests {
  private let process: ToolProcess
  private let port: Int

  init() throws {
    let database = try TestDatabase()
    process = try Tools.start(
      "quake-serve",
      ["--listen", ":0", "--max-rate", "1", "--max-connections-per-address", "100"]
        + database.option)
    try process.waitForError("serving on http://:")
    let match = try #require(process.errorText.firstMatch(of: #/serving on http://:(\d+)/#))
    port = try #require(Int(match.1))
  }

  private func status(_ descriptor: Int32?) throws -> Int {
    try RawConnection(#require(descriptor)).request("GET", "/healthz").status
  }

  @Test func clientsOfBothFamiliesAreAnsweredAndCountedByTheirAddresses() throws {
    #expect(try status(LocalSocket.connect(toPort: port)) == 200)
    #expect(try status(LocalSocket.connect(toPort6: port)) == 200)
    try process.waitForError("127.0.0.1 GET /healthz 200")
    try process.waitForError("::1 GET /healthz 200")
    #expect(!process.errorText.contains("::ffff:"))
    // Ten requests at once, and then one a second. The other family is another client.
    try eventually("more requests than one a second are refused") {
      try status(LocalSocket.connect(toPort: port)) == 429
    }
    #expect(try status(LocalSocket.connect(toPort6: port)) == 200)
  }
}
