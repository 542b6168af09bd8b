package import Basics
internal import CommandLine
package import Glibc
package import QuakeConsumers

/// Delivers messages to a consumer's receiver.
///
/// A sink and its attempts belong to the sender's thread, and none of their functions blocks.
package protocol Sink: AnyObject {
  /// Begins to deliver messages, in their order, as one request or command.
  func begin(_ messages: [Message]) -> any DeliveryAttempt
  /// Releases what the sink keeps between attempts, such as a connection. Its attempts have ended before.
  func end()
}

extension Sink {
  package func end() {}
}

/// How a sink is made: values only, so that the thread that reads the configuration can give it to the sender's.
package protocol SinkPlan: Sendable {
  /// What the sink delivers to, for people and without secrets.
  var shown: String { get }
  /// The sink. Requests over HTTP run in `loop`: nothing of them happens before its next `run`.
  func sink(in loop: CurlLoop) -> any Sink
}

/// The delivery of one or more messages, which is under way.
package protocol DeliveryAttempt: AnyObject {
  /// What to wait for with `poll(2)`: when one is ready, `advance` may have an outcome. Transfers of the loop are not
  /// among them.
  var descriptors: [pollfd] { get }
  /// When to call `advance` in any case.
  var deadline: Deadline? { get }
  /// Goes on as far as it can without waiting. After an outcome the attempt is not asked again.
  ///
  /// - Returns: nil while the delivery is under way.
  func advance() -> DeliveryOutcome?
  /// Ends the delivery, whose outcome nobody asks for any more.
  func cancel()
}

package enum DeliveryOutcome: Sendable {
  /// The receiver has taken all messages.
  case delivered
  case failed(DeliveryFailure)
  /// The receiver is gone for ever, and the program has nothing left to do: standard output is closed.
  case ended(any Error)
}

package struct DeliveryFailure: Hashable, Sendable {
  /// The most bytes of a reason, which is stored with the message.
  package static let longestReason = 1024

  /// For people: printable, on one line, and without secrets.
  package let reason: String
  /// How long the receiver asks to wait before the next attempt.
  package let retryAfter: Duration?
  /// Whether the receiver will refuse the same messages again.
  package let isFinal: Bool

  package init(_ reason: String, retryAfter: Duration? = nil, isFinal: Bool = false) {
    self.reason = PrintableText.line(reason, atMost: Self.longestReason)
    self.retryAfter = retryAfter
    self.isFinal = isFinal
  }
}

/// An attempt whose outcome is known when it begins.
package final class DecidedAttempt: DeliveryAttempt {
  private let outcome: DeliveryOutcome

  package init(_ outcome: DeliveryOutcome) { self.outcome = outcome }

  package var descriptors: [pollfd] { [] }
  package var deadline: Deadline? { Deadline(after: .zero) }
  package func advance() -> DeliveryOutcome? { outcome }
  package func cancel() {}
}
