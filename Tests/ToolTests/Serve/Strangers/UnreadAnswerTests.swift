import Basics
import Glibc
import TestSupport
import Testing

/// Clients that ask for documents and do not read them.
@Suite struct UnreadAnswerTests {
  /// In `make soak` until the server has ended their connections, half a minute after the time for a request.
  @Test func clientsThatDoNotReadTheirDocumentsDelayNoOther() throws {
    let database = try TestDatabase()
    // Documents of 5 MB, more than the system keeps for a connection that is not read.
    try database.psql(
      """
      insert into quake.quake (code, time, place)
      select 'e' || i, now() - make_interval(mins => i), repeat('x', 1000)
        from generate_series(1, 5000) i
      """)
    let server = try ServerProcess(database, ["--request-timeout", "1s"])
    try eventually("the server is ready") { try server.get("/readyz").status == 200 }
    var clients = try (0..<50).map { _ in try RawConnection(port: server.port) }
    for (number, client) in clients.enumerated() {
      client.send(
        "GET /v1/table?limit=\(5000 - number % 5) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }
    for client in clients {
      var answered = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
      #expect(poll(&answered, 1, ToolProcess.patience.pollTimeout) == 1)
    }
    #expect(try server.get("/v1/quakes?limit=3").status == 200)
    if Tools.isSoak {
      try eventually("their connections have ended") {
        try server.get("/metrics").text.contains("\nquake_http_connections 1\n")
      }
    }
    clients.removeAll()
    try server.stop()
  }
}
