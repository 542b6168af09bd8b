import Foundation
import TestSupport
import Testing

/// A proxy in front of several servers, configured as its example in deploy/proxy is, without TLS and on a free port.
final class ReverseProxy {
  enum Program: String, CaseIterable {
    case nginx, haproxy, caddy

    /// Those that are installed; in `make test` only nginx.
    static let tested = allCases.filter {
      (Tools.isSoak || $0 == .nginx)
        && (try? Tools.shell("command -v \($0)").status == 0) == true
    }

    fileprivate var example: String {
      switch self {
      case .nginx: "nginx.conf"
      case .haproxy: "haproxy.cfg"
      case .caddy: "Caddyfile"
      }
    }

    /// The command that runs it in the foreground, with a file in a folder of its own.
    fileprivate func command(_ file: String, in folder: String) -> String {
      switch self {
      case .nginx: "exec nginx -c '\(file)' -e stderr"
      case .haproxy: "exec haproxy -db -f '\(file)'"
      case .caddy:
        "HOME='\(folder)' exec caddy run --adapter caddyfile --config '\(file)'"
      }
    }
  }

  var port: Int { reserved.number }
  var url: String { "http://127.0.0.1:\(port)" }
  private let reserved: ReservedPort
  private let process: ToolProcess

  init(_ program: Program, _ folder: TemporaryFolder, _ ports: [Int]) throws {
    reserved = try ReservedPort()
    let number = reserved.number
    let example = try contents(of: Tools.package + "/deploy/proxy/" + program.example)
    let text =
      switch program {
      case .nginx: try Self.nginx(example, number, ports, in: folder)
      case .haproxy: try Self.haproxy(example, number, ports)
      case .caddy: try Self.caddy(example, number, ports)
      }
    let file = try folder.write(program.example, text)
    process = try Tools.startShell(program.command(file, in: folder.path))
    try eventually("\(program) finds its servers") {
      try Tools.shell("curl -sf -o /dev/null http://127.0.0.1:\(number)/v1/quakes?limit=1").status
        == 0
    }
  }

  /// Waits for its end: killed at once, as other tools are, nginx would leave its worker processes.
  deinit {
    process.signal(SIGTERM)
    _ = try? process.exit(within: .seconds(10))
  }

  /// The text with another one in the place of one that must be there.
  private static func replace(
    _ old: String, with new: String, in text: String
  ) throws -> String {
    try #require(text.contains(old), "the example has no \(old)")
    return text.replacing(old, with: new)
  }

  /// The text without the lines with one of the words.
  private static func without(_ words: [String], _ text: String) -> String {
    text.components(separatedBy: "\n").filter { line in !words.contains { line.contains($0) } }
      .joined(separator: "\n")
  }

  /// All servers in the place of the first one's line, and none in that of the second.
  private static func servers(
    _ ports: [Int], _ first: (String, (Int) -> String), _ second: String, in text: String
  ) throws -> String {
    let lines = ports.map(first.1).joined(separator: "\n")
    return try without([second], replace(first.0, with: lines, in: text))
  }

  private static func nginx(
    _ example: String, _ port: Int, _ ports: [Int], in folder: TemporaryFolder
  ) throws -> String {
    var text = without(["ssl_certificate", "[::]:443", "access_log", "pid ", "user "], example)
    // Each has its own limit on open files.
    text = try replace("worker_processes auto;", with: "worker_processes 4;", in: text)
    text = try replace("listen 443 ssl http2;", with: "listen 127.0.0.1:\(port);", in: text)
    text = try replace("/var/cache/nginx/quake", with: "\(folder.path)/cache", in: text)
    text = try replace(
      "http {",
      with: """
        daemon off; pid \(folder.path)/nginx.pid; error_log \(folder.path)/error.log;
        http {
        access_log off;
        client_body_temp_path \(folder.path)/body; proxy_temp_path \(folder.path)/proxy;
        fastcgi_temp_path \(folder.path)/f; uwsgi_temp_path \(folder.path)/u; scgi_temp_path \(folder.path)/s;
        """, in: text)
    return try servers(
      ports,
      ("    server 127.0.0.1:8080 max_fails=0;", { "    server 127.0.0.1:\($0) max_fails=0;" }),
      "127.0.0.1:8081", in: text)
  }

  private static func haproxy(_ example: String, _ port: Int, _ ports: [Int]) throws -> String {
    var text = without(["log /dev/log", "log global", "user haproxy", "group haproxy"], example)
    text = try replace(
      "bind :443 ssl crt /etc/haproxy/quakes.example.org.pem alpn h2,http/1.1",
      with: "bind 127.0.0.1:\(port)", in: text)
    // What the limit on open files of this machine allows is not known.
    text = without(["maxconn"], text)
    return try servers(
      ports, ("  server a 127.0.0.1:8080", { "  server s\($0) 127.0.0.1:\($0)" }),
      "127.0.0.1:8081", in: text)
  }

  private static func caddy(_ example: String, _ port: Int, _ ports: [Int]) throws -> String {
    let text = try replace(
      "\nquakes.example.org {", with: "\nhttp://:\(port) {\n\tbind 127.0.0.1", in: example)
    let list = ports.map { "127.0.0.1:\($0)" }.joined(separator: " ")
    return try "{\n\tadmin off\n\tauto_https off\n}\n"
      + replace("127.0.0.1:8080 127.0.0.1:8081", with: list, in: text)
  }
}
