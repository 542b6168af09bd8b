import Basics
import Foundation
import Glibc
import QuakeConsumers
import QuakeModel
import QuakeSinks
import TestSupport

/// Makes attempts of a sink, as the sender of `quake-watch` does.
final class SinkDriver {
  let loop = CurlLoop()
  let sink: any Sink

  init(_ plan: some SinkPlan) {
    sink = plan.sink(in: loop)
  }

  /// Delivers messages with one attempt.
  func deliver(_ messages: [Message]) throws -> DeliveryOutcome {
    try outcome(of: sink.begin(messages))
  }

  func outcome(of attempt: any DeliveryAttempt) throws -> DeliveryOutcome {
    let patience = Deadline(after: ToolProcess.patience)
    while true {
      loop.run()
      if let outcome = attempt.advance() { return outcome }
      guard !patience.hasPassed else {
        throw ToolProcess.Failure(description: "timed out waiting for the outcome of an attempt")
      }
      let limit = attempt.deadline.map { min($0, patience) } ?? patience
      loop.wait(milliseconds: limit.pollTimeout, beside: attempt.descriptors)
    }
  }

  /// Why an attempt failed.
  func failure(_ messages: [Message]) throws -> DeliveryFailure {
    guard case .failed(let failure) = try deliver(messages) else {
      throw ToolProcess.Failure(description: "the attempt did not fail")
    }
    return failure
  }
}

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

extension DeliveryOutcome {
  var isDelivered: Bool { if case .delivered = self { true } else { false } }
}

extension Message {
  /// A message for tests.
  static func example(
    _ number: Int = 1, kind: Kind = .opened, place: String = "10 km N of Zürich",
    variables: [Variable] = []
  ) throws -> Message {
    guard let token = ChangeToken("1042.9f3ac2d1") else {
      throw ToolProcess.Failure(description: "no token")
    }
    return Message(
      id: "1042.9f3ac2d1-0-\(number)", kind: kind, subject: "1042.9f3ac2d1-0", token: token,
      variables: [
        Variable(name: "QUAKE_MAGNITUDE", value: "5.2"),
        Variable(name: "QUAKE_PLACE", value: place),
        Variable(name: "QUAKE_ALERT", value: "\(kind)"),
      ] + variables, data: "{\"id\":\"1042.9f3ac2d1-0-\(number)\",\"alert\":\"\(kind)\"}")
  }
}
