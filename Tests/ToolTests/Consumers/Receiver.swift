import Foundation
import TestSupport

/// A receiver of webhooks that is not ours: `receiver.py`, whose behaviour the path chooses.
final class Receiver {
  /// A request that it has received.
  struct Request {
    let line: JSONLine
    let headers: [String: String]

    var path: String { line.string("path") ?? "" }
    var body: String { line.string("body") ?? "" }
  }

  let port: Int
  private let process: ToolProcess
  private let isTLS: Bool

  /// - Parameters:
  ///   - secrets: The keys by which it verifies signatures.
  ///   - certificate: The files of its certificate and key; nil: it speaks HTTP without TLS.
  init(secrets: [String] = [], certificate: (file: String, key: String)? = nil) throws {
    let script = Tools.package + "/Tests/ToolTests/Consumers/receiver.py"
    let words = certificate.map { ["--tls", $0.file, $0.key] } ?? []
    process = try ToolProcess(
      Clients.python ?? "", [script] + words,
      environment: [
        "WEBHOOK_SECRETS": secrets.joined(separator: " "), "HOME": NSTemporaryDirectory(),
      ])
    isTLS = certificate != nil
    guard let port = Int(try process.line()) else {
      throw ToolProcess.Failure(description: "the receiver printed no port")
    }
    self.port = port
  }

  func url(_ path: String, host: String = "127.0.0.1") -> String {
    "\(isTLS ? "https" : "http")://\(host):\(port)\(path)"
  }

  /// The path that redirects to a URL.
  func redirect(_ status: Int, to url: String) -> String {
    "/to/\(status)/" + (url.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
  }

  /// The next request that it has received.
  func request() throws -> Request {
    let text = try process.line()
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    return Request(
      line: try JSONLine(text), headers: object?["headers"] as? [String: String] ?? [:])
  }
}
