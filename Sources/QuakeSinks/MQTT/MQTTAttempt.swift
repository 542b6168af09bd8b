internal import Basics
internal import Glibc
internal import QuakeConsumers

/// Messages on their way to an MQTT broker, until it has acknowledged all of them.
final class MQTTAttempt: DeliveryAttempt {
  private let messages: [Message]
  private let sink: MQTTSink
  private let end: Deadline
  /// The connection that the messages were published on, and their numbers on it.
  private var sent: (connection: MQTTConnection, numbers: [Int32])?

  init(_ messages: [Message], _ sink: MQTTSink) {
    self.messages = messages
    self.sink = sink
    end = Deadline(after: sink.plan.timeout)
  }

  var descriptors: [pollfd] {
    guard let connection = sink.connection, connection.descriptor >= 0 else { return [] }
    let events = POLLIN | (connection.isFull ? POLLOUT : 0)
    return [pollfd(fd: connection.descriptor, events: Int16(events), revents: 0)]
  }

  /// At once if another attempt of the sink has read what this one waits for.
  var deadline: Deadline? { hasNews ? Deadline(after: .zero) : end }

  private var hasNews: Bool {
    if let sent { return sent.numbers.contains { sent.connection.hasOutcome(of: $0) } }
    if case .connecting = sink.readiness { return sink.hasNews }
    return true
  }

  func advance() -> DeliveryOutcome? {
    sink.advance()
    if sent == nil {
      switch sink.readiness {
      case .connecting: break
      case .failed(let failure): return .failed(failure)
      case .ready(let connection):
        if let failure = publish(on: connection) { return .failed(failure) }
      }
    }
    if let outcome = outcome() { return outcome }
    guard end.hasPassed else { return nil }
    forget()
    return .failed(sink.giveUp())
  }

  func cancel() { forget() }

  /// Publishes all messages, so that their order stays.
  private func publish(on connection: MQTTConnection) -> DeliveryFailure? {
    var numbers: [Int32] = []
    for publication in messages.flatMap({ sink.publications(for: $0) }) {
      do throws(MQTTConnection.Failure) {
        numbers.append(try connection.publish(publication))
      } catch {
        for number in numbers { connection.forget(number) }
        return failure(error)
      }
    }
    sent = (connection, numbers)
    return nil
  }

  /// Delivered when all messages are; failed when one is.
  private func outcome() -> DeliveryOutcome? {
    guard let sent else { return nil }
    var waiting: [Int32] = []
    for number in sent.numbers {
      switch sent.connection.outcome(of: number) {
      case nil: waiting.append(number)
      case .success: sink.prove()
      case .failure(let failure):
        forget()
        return .failed(self.failure(failure))
      }
    }
    self.sent?.numbers = waiting
    return waiting.isEmpty ? .delivered : nil
  }

  private func failure(_ failure: MQTTConnection.Failure) -> DeliveryFailure {
    DeliveryFailure(
      "could not publish at the MQTT broker \(sink.plan.address.text): \(failure.reason)",
      isFinal: failure.isFinal)
  }

  private func forget() {
    if let sent { for number in sent.numbers { sent.connection.forget(number) } }
  }
}
