internal import Basics
internal import CommandLine
internal import QuakeConsumers

/// Publishes messages at an MQTT broker, over one connection that stays as long as the broker keeps it.
///
/// A message is delivered when the broker has acknowledged it. While nothing is under way, nobody reads the
/// connection, or tells the broker that the client is alive: the next attempt connects again if the broker has closed it,
/// or must have.
final class MQTTSink: Sink {
  enum Readiness {
    case ready(MQTTConnection)
    case connecting
    case failed(DeliveryFailure)
  }

  let plan: MQTTPlan
  private let homeAssistant: HomeAssistant?
  private(set) var connection: MQTTConnection?
  /// The message that describes the sensor to Home Assistant, until the broker has acknowledged it.
  private var announcement: Int32?
  /// Whether attempts may use the connection.
  private var isReady = false
  /// Whether the broker has acknowledged anything since the connection began.
  private var isProven = false
  /// Whether the broker does not know MQTT 5.
  private var isOld = false
  /// The last state of Home Assistant's sensor that was sent over this connection.
  private var shown: String?
  /// When a broker has closed a connection over which nothing has gone since.
  private var staleAt = Deadline(after: .zero)
  private var pause = ReconnectPause()
  private var lastFailure: MQTTConnection.Failure?

  init(_ plan: MQTTPlan) {
    self.plan = plan
    homeAssistant = plan.homeAssistant
  }

  func begin(_ messages: [Message]) -> any DeliveryAttempt {
    advance()
    if isReady, staleAt.hasPassed, let connection, connection.isIdle {
      connection.end(MQTTConnection.Failure(reason: "the connection was not used for too long"))
      self.connection = nil
    }
    if connection == nil {
      if let wait = pause.remaining { return DecidedAttempt(.failed(failure(retryAfter: wait))) }
      connect()
    }
    return MQTTAttempt(messages, self)
  }

  func end() {
    connection?.end(MQTTConnection.Failure(reason: "the consumer has ended"))
    connection = nil
  }

  // MARK: - The connection

  private func connect() {
    isReady = false
    isProven = false
    announcement = nil
    shown = nil
    do throws(LibraryProblem) {
      connection = try MQTTConnection(plan, isOld: isOld)
    } catch {
      let text = [error.detail, error.hint].compactMap { $0 }.joined(separator: " ")
      lose(MQTTConnection.Failure(reason: "cannot load libmosquitto. \(text)"))
    }
  }

  /// Goes on with the connection as far as it can without waiting.
  func advance() {
    guard let connection else { return }
    connection.advance()
    switch connection.state {
    case .connecting: return
    case .ended(let failure): return lose(failure)
    case .open: break
    }
    guard !isReady else { return }
    guard let homeAssistant else {
      isReady = true
      return
    }
    do throws(MQTTConnection.Failure) {
      guard let announcement else {
        self.announcement = try connection.publish(homeAssistant.announcement)
        return
      }
      guard let outcome = connection.outcome(of: announcement) else { return }
      try outcome.get()
      // The broker has sent the sensor's state before, if it has one.
      shown = connection.received
      isReady = true
    } catch {
      connection.end(
        MQTTConnection.Failure(
          reason: "the broker did not take the discovery of Home Assistant: \(error.reason)"))
      lose(error)
    }
  }

  private func lose(_ failure: MQTTConnection.Failure) {
    connection = nil
    if failure.needsOlderVersion, !isOld {
      isOld = true
      return connect()
    }
    lastFailure = failure
    // A broker that has worked may be restarting: the first attempt to reconnect does not wait.
    if isProven { pause.reset() } else { pause.extend() }
    isProven = false
  }

  private func failure(retryAfter: Duration?) -> DeliveryFailure {
    let reason = lastFailure?.reason ?? "no connection"
    return DeliveryFailure(
      "no connection to the MQTT broker \(plan.address.text): \(reason)", retryAfter: retryAfter)
  }

  // MARK: - For attempts

  var readiness: Readiness {
    guard let connection else { return .failed(failure(retryAfter: pause.remaining)) }
    return isReady ? .ready(connection) : .connecting
  }

  /// Whether `advance` has an announcement to go on with, which another attempt has read.
  var hasNews: Bool {
    guard let connection, !isReady else { return false }
    guard let announcement else { return connection.state != .connecting }
    return connection.hasOutcome(of: announcement)
  }

  /// What is published for a message, in this order.
  func publications(for message: Message) -> [MQTTConnection.Publication] {
    var publications = plan.publications(for: message)
    if let homeAssistant, let state = homeAssistant.state(message, after: shown) {
      shown = state
      publications.append(homeAssistant.publication(of: state))
    }
    return publications
  }

  /// The broker has acknowledged a message.
  func prove() {
    isProven = true
    staleAt = Deadline(after: .seconds(MQTTConnection.keepalive * 3 / 2))
    pause.reset()
  }

  /// The broker has not answered in time. A thread that still connects goes on, so that there is at most one.
  func giveUp() -> DeliveryFailure {
    let time = plan.timeout.text
    let what = isReady ? "acknowledged nothing" : "did not answer"
    let failure = MQTTConnection.Failure(reason: "the broker \(what) for \(time)")
    if let connection, connection.isReached {
      connection.end(failure)
      lose(failure)
    } else {
      lastFailure = failure
    }
    return self.failure(retryAfter: nil)
  }
}

/// How long a sink waits before it connects again.
struct ReconnectPause {
  private var backoff = Backoff(first: .seconds(1), longest: .seconds(60))
  private var end: Deadline?

  /// Nil if it is over.
  var remaining: Duration? {
    guard let end, !end.hasPassed else { return nil }
    return .milliseconds(Int(end.pollTimeout))
  }

  mutating func extend() { end = Deadline(after: backoff.next()) }

  mutating func reset() { self = ReconnectPause() }
}
