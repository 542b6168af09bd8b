import Basics
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
