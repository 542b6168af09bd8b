import Foundation
import TestSupport
import Testing

/// Several servers on one database behind nginx.
@Suite(
  .enabled(
    if: (try? Tools.shell("nginx -v").status == 0) == true, "there is no nginx"))
struct ProxyTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
  }

  @Test func aClientMovesFromOneServerToTheOther() throws {
    let options = [
      "--trusted-proxy", "127.0.0.1", "--public-url", "http://quakes.example.org",
    ]
    let first = try ServerProcess(database, options)
    let second = try ServerProcess(database, options)
    let proxy = try Proxy(folder, [first.port, second.port])
    for number in 1...6 {
      try database.psql(
        "insert into quake.quake (code, time) values ('e\(number)', now())")
    }
    // Three changes from the one, and the others from wherever the proxy leads: it takes them in turn.
    var seen: [String] = []
    var id: String?
    for _ in 0..<2 {
      let stream = try ChangeStream(proxy.url, after: id)
      for _ in 0..<3 {
        let change = try stream.next()
        id = change.id
        seen.append(change.code)
      }
      stream.end()
    }
    #expect(seen == (1...6).map { "e\($0)" })
    // With one of them gone, the other is there.
    try first.stop()
    try database.psql("insert into quake.quake (code, time) values ('e7', now())")
    let stream = try ChangeStream(proxy.url, after: id)
    #expect(try stream.next().code == "e7")
    stream.end()
    // Documents name the proxy's address, and the log the client's.
    let feed = try Tools.shell(
      "curl -s -H 'Host: quakes.example.org' \(proxy.url)/earthquakes/feed/v1.0/summary/all_hour.geojson"
    )
    #expect(feed.output.contains("http://quakes.example.org/"))
    try second.stop()
  }
}

extension ProxyTests {
  /// As in an upgrade: each is stopped and started again, while clients follow the changes and ask for documents.
  @Test func serversAreRestartedInTurnWithoutLosingAChange() throws {
    let ports = try (0..<3).map { _ in try ReservedPort() }
    var servers = try ports.map { try ServerProcess(database, port: $0.number) }
    let proxy = try Proxy(folder, ports.map(\.number))
    let streams = (0..<(Tools.isSoak ? 1000 : 9)).map { _ in ResumedStream(port: proxy.port) }
    var written: [String] = []
    func insert() throws {
      written.append("e\(written.count + 1)")
      try database.psql(
        "insert into quake.quake (code, time) values ('\(written.last ?? "")', now())")
    }
    for index in servers.indices {
      try insert()
      for stream in streams { try stream.read(to: written.count) }
      try servers[index].stop()
      try insert()
      // nginx asks another server when one refuses, so nobody is turned away.
      #expect(try Tools.shell("curl -sf -o /dev/null \(proxy.url)/v1/quakes").status == 0)
      for stream in streams { try stream.read(to: written.count) }
      servers[index] = try ServerProcess(database, port: ports[index].number)
    }
    for stream in streams { #expect(stream.codes == written) }
    for server in servers { try server.stop() }
    withExtendedLifetime(ports) {}
  }
}

/// A client that resumes after its last change when its stream ends.
private final class ResumedStream {
  private let port: Int
  private var connection: RawConnection?
  private var id: String?
  private(set) var codes: [String] = []

  init(port: Int) { self.port = port }

  /// Reads until it has this many changes.
  func read(to count: Int) throws {
    let deadline = ContinuousClock.now + ToolProcess.patience
    while codes.count < count {
      try #require(ContinuousClock.now < deadline, "\(codes.count) of \(count) changes")
      let open = try connection ?? stream()
      connection = open
      guard let line = try open.line() else {
        connection = nil
        continue
      }
      if line.hasPrefix("id:") {
        id = String(line.dropFirst(3).trimmingPrefix(" "))
      } else if line.hasPrefix("data:"), !line.contains("\"op\":\"heartbeat\"") {
        codes.append(try JSONLine(String(line.dropFirst(5))).string("code") ?? "")
      }
    }
  }

  /// A stream after the last change. It has no chunks: nginx sends none to a client of HTTP/1.0.
  private func stream() throws -> RawConnection {
    let connection = try RawConnection(port: port)
    let resume = id.map { "Last-Event-ID: \($0)\r\n" } ?? ""
    connection.send("GET /v1/changes?after=0 HTTP/1.0\r\nHost: 127.0.0.1\r\n\(resume)\r\n")
    return connection
  }
}

/// nginx, configured as the example in deploy/proxy is, without TLS and on a free port.
private final class Proxy {
  var port: Int { reserved.number }
  var url: String { "http://127.0.0.1:\(port)" }
  private let reserved: ReservedPort
  private let process: ToolProcess

  init(_ folder: TemporaryFolder, _ ports: [Int]) throws {
    let example = try String(
      contentsOfFile: Tools.package + "/deploy/proxy/nginx.conf", encoding: .utf8)
    reserved = try ReservedPort()
    let number = reserved.number
    let lines = example.components(separatedBy: "\n").compactMap { line -> String? in
      if line.contains("ssl_certificate") || line.contains("[::]:443") || line.contains("http2") {
        return nil
      }
      return line.replacing("listen 443 ssl", with: "listen 127.0.0.1:\(number)")
    }.map { line in
      // All servers take the places of the two.
      guard line.contains("127.0.0.1:8080 max") else {
        return line.contains("127.0.0.1:8081 max") ? "" : line
      }
      return ports.map { line.replacing("127.0.0.1:8080 max", with: "127.0.0.1:\($0) max") }
        .joined(separator: "\n")
    }
    let file = try folder.write(
      "nginx.conf",
      """
      daemon off; pid \(folder.path)/nginx.pid; error_log \(folder.path)/error.log;
      events { worker_connections 4096; }
      http {
        access_log off;
        client_body_temp_path \(folder.path)/body; proxy_temp_path \(folder.path)/proxy;
        fastcgi_temp_path \(folder.path)/f; uwsgi_temp_path \(folder.path)/u; scgi_temp_path \(folder.path)/s;
      \(lines.joined(separator: "\n"))
      }
      """)
    process = try Tools.startShell("exec nginx -c '\(file)' -e stderr")
    try eventually("nginx listens") { (try? RawConnection(port: number)) != nil }
  }

  deinit { process.signal(SIGTERM) }
}
