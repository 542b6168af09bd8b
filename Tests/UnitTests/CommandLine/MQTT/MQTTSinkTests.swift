import Basics
import Foundation
import QuakeConsumers
import QuakeModel
import Synchronization
import TestSupport
import Testing

@testable import QuakeSinks

/// Messages at mosquitto, read by its own client.
@Suite(.enabled(if: Broker.isInstalled, "\(Broker.isMissing)"))
struct MQTTSinkTests {
  static func message(
    _ number: Int = 1, _ kind: Message.Kind = .opened, subject: String = "7.a-0",
    variables: [String: String] = [:]
  ) throws -> Message {
    let values = [
      "QUAKE_CODE": "us1", "QUAKE_MAGNITUDE": "6.1", "QUAKE_CONVERSATION": subject,
    ].merging(variables) { $1 }
    return Message(
      id: "\(subject)-\(number)", kind: kind, subject: subject,
      token: try #require(ChangeToken("7.01234567")),
      variables: values.map { Message.Variable(name: $0.key, value: $0.value) },
      data: #"{"id":"\#(subject)-\#(number)"}"#)
  }

  static func plan(
    _ port: Int, address: String = "mqtt://127.0.0.1", topic: String = "quake/{conversation}"
  ) throws -> MQTTPlan {
    var plan = MQTTPlan(
      consumer: "test", address: try MQTTAddress("\(address):\(port)"),
      topic: try MessageTemplate(topic))
    plan.timeout = .seconds(120)
    return plan
  }

  /// Plays the sender's loop until an attempt has an outcome.
  static func finish(_ attempt: any DeliveryAttempt) throws -> DeliveryOutcome {
    let end = ContinuousClock.now + ToolProcess.patience
    while ContinuousClock.now < end {
      if let outcome = attempt.advance() { return outcome }
      var waiting = attempt.descriptors
      poll(&waiting, nfds_t(waiting.count), min(attempt.deadline?.pollTimeout ?? 1000, 1000))
    }
    throw ToolProcess.Failure(description: "timed out waiting for the outcome of an attempt")
  }

  static func deliver(_ messages: Message..., by sink: any Sink) throws {
    let outcome = try finish(sink.begin(messages))
    guard case .delivered = outcome else {
      throw ToolProcess.Failure(description: "\(outcome)")
    }
  }

  static func failure(_ messages: Message..., by sink: any Sink) throws -> DeliveryFailure {
    guard case .failed(let failure) = try finish(sink.begin(messages)) else {
      throw ToolProcess.Failure(description: "it was delivered")
    }
    return failure
  }

  /// Tries as the queue does, until a message is delivered.
  static func deliverAtLast(_ message: Message, by sink: any Sink) throws {
    try eventually("\(message.id) is delivered") {
      guard case .delivered = try finish(sink.begin([message])) else { return false }
      return true
    }
  }

  @Test func aMessageIsDeliveredWhenTheBrokerHasIt() throws {
    let broker = try Broker()
    let client = try broker.subscriber(to: "quake/#")
    let sink = MQTTSink(try Self.plan(broker.port))
    try Self.deliver(Self.message(1), Self.message(2), by: sink)
    try Self.deliver(Self.message(3), by: sink)
    for number in 1...3 {
      #expect(try Broker.message(of: client) == #"0 quake/7.a-0 {"id":"7.a-0-\#(number)"}"#)
    }
    #expect(try broker.retained().isEmpty)
    sink.end()
  }

  @Test func manyAttemptsShareOneConnection() throws {
    let broker = try Broker()
    let client = try broker.subscriber(to: "quake/#")
    let proxy = try FaultyProxy(toPort: broker.port)
    let sink = MQTTSink(try Self.plan(proxy.port))
    let attempts = try (1...50).map { sink.begin([try Self.message($0)]) }
    for attempt in attempts.reversed() {
      guard case .delivered = try Self.finish(attempt) else {
        Issue.record("it was not delivered")
        return
      }
    }
    let ids = try (1...50).map { _ in try Broker.message(of: client) }
    #expect(Set(ids).count == 50)
    #expect(proxy.acceptedCount == 1)
  }

  @Test func aBrokerThatIsAwayIsFoundWhenItIsBack() throws {
    let broker = try Broker()
    let sink = MQTTSink(try Self.plan(broker.port))
    try Self.deliver(Self.message(1), by: sink)
    try broker.stop()
    let failure = try Self.failure(Self.message(2), by: sink)
    #expect(
      failure.reason == "no connection to the MQTT broker mqtt://127.0.0.1:\(broker.port): "
        + "Connection refused")
    #expect(!failure.isFinal)
    // While it is away, the sink does not try at each message.
    let next = try Self.failure(Self.message(2), by: sink)
    let pause = try #require(next.retryAfter)
    #expect(pause <= .seconds(2))
    try broker.start()
    let client = try broker.subscriber(to: "quake/#")
    try Self.deliverAtLast(Self.message(2), by: sink)
    #expect(try Broker.message(of: client) == #"0 quake/7.a-0 {"id":"7.a-0-2"}"#)
  }

  @Test func aMessageThatWasNotAcknowledgedComesAgainWithItsID() throws {
    let broker = try Broker()
    let proxy = try FaultyProxy(toPort: broker.port)
    let client = try broker.subscriber(to: "quake/#")
    let sink = MQTTSink(try Self.plan(proxy.port))
    try Self.deliver(Self.message(1), by: sink)
    _ = try Broker.message(of: client)
    // The broker gets the message, and its answer is lost.
    proxy.halfOpen(losing: .toClient)
    let attempt = sink.begin([try Self.message(2)])
    #expect(attempt.advance() == nil)
    #expect(try Broker.message(of: client) == #"0 quake/7.a-0 {"id":"7.a-0-2"}"#)
    try broker.stop()
    guard case .failed = try Self.finish(attempt) else {
      Issue.record("nobody has acknowledged it")
      return
    }
    try broker.start()
    let next = try broker.subscriber(to: "quake/#")
    try Self.deliverAtLast(Self.message(2), by: sink)
    #expect(try Broker.message(of: next) == #"0 quake/7.a-0 {"id":"7.a-0-2"}"#)
  }

  @Test func aBrokerThatStallsEndsTheAttempt() throws {
    let broker = try Broker()
    var plan = try Self.plan(broker.port)
    plan.timeout = .milliseconds(300)
    let sink = MQTTSink(plan)
    try Self.deliverAtLast(Self.message(1), by: sink)
    try broker.pause()
    let failure = try Self.failure(Self.message(2), by: sink)
    #expect(failure.reason.hasSuffix("the broker acknowledged nothing for 300ms"))
    broker.resume()
    try Self.deliverAtLast(Self.message(2), by: sink)
  }

  @Test func aServerThatDoesNotSpeakEndsTheAttempt() throws {
    let server = try SilentServer()
    var plan = try Self.plan(server.port)
    plan.timeout = .milliseconds(50)
    let failure = try Self.failure(Self.message(), by: MQTTSink(plan))
    #expect(failure.reason.hasSuffix("the broker did not answer for 50ms"))
  }

  @Test func theBrokerKeepsTheLastMessageOfAnEarthquake() throws {
    let broker = try Broker()
    var plan = try Self.plan(broker.port)
    plan.retain = .always
    let sink = MQTTSink(plan)
    try Self.deliver(Self.message(1), Self.message(2, .updated), by: sink)
    try Self.deliver(Self.message(1, subject: "8.b-0"), by: sink)
    try broker.stop()
    try broker.start()
    try Self.deliver(Self.message(3, .closed), by: MQTTSink(plan))
    #expect(
      try broker.retained("quake/#") == [
        #"quake/7.a-0 {"id":"7.a-0-3"}"#, #"quake/8.b-0 {"id":"8.b-0-1"}"#,
      ])
  }

  @Test(arguments: [Message.Kind.retracted, .closed])
  func theBrokerForgetsAnEarthquakeThatIsOver(_ kind: Message.Kind) throws {
    let broker = try Broker()
    var plan = try Self.plan(broker.port)
    plan.retain = .open
    let sink = MQTTSink(plan)
    try Self.deliver(Self.message(1), Self.message(1, subject: "8.b-0"), by: sink)
    let client = try broker.subscriber(to: "quake/7.a-0")
    #expect(try Broker.message(of: client) == #"1 quake/7.a-0 {"id":"7.a-0-1"}"#)
    try Self.deliver(Self.message(2, kind), by: sink)
    #expect(try Broker.message(of: client) == #"0 quake/7.a-0 {"id":"7.a-0-2"}"#)
    #expect(try Broker.message(of: client) == "0 quake/7.a-0 ")
    #expect(try broker.retained("quake/#") == [#"quake/8.b-0 {"id":"8.b-0-1"}"#])
  }

  @Test func aTopicHasNoWildcardsFromValues() throws {
    #expect(MQTTTopic.part("a/b+#\u{0}\u{85}\u{FFFF}é") == "a_b_____é")
    let broker = try Broker()
    let client = try broker.subscriber(to: "quake/#")
    try Self.deliver(
      Self.message(subject: "a/+#\u{0}\u{1}\u{FFFE}"), by: MQTTSink(try Self.plan(broker.port)))
    #expect(try Broker.message(of: client).hasPrefix("0 quake/a______ "))
  }

  @Test func aMessageThatNoBrokerCanTakeIsFinal() throws {
    let broker = try Broker()
    let nameless = MQTTSink(try Self.plan(broker.port, topic: "{place}"))
    #expect(try Self.failure(Self.message(), by: nameless).isFinal)
    let long = String(repeating: "a", count: 70_000)
    let message = try Self.message(variables: ["QUAKE_PLACE": long])
    #expect(try Self.failure(message, by: nameless).isFinal)
  }

  /// A broker of this test's own: it refuses MQTT 5 as brokers do that do not know it, and acknowledges one message.
  @Test func aBrokerThatKnowsOnlyAnOlderVersionGetsIt() throws {
    let (listener, port) = try LocalSocket.listen()
    defer { close(listener) }
    let levels = Mutex<[UInt8]>([])
    let hasEnded = Event()
    BackgroundThread.detach { [listener] in
      defer { hasEnded.happen() }
      for answer: [UInt8] in [[0x20, 2, 0, 1], [0x20, 2, 0, 0]] {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        defer { close(client) }
        let connect = Self.packet(client)
        // After the length and the name "MQTT".
        levels.withLock { $0.append(connect.count > 6 ? connect[6] : 0) }
        _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
        let message = Self.packet(client)
        guard message.count > 2 else { continue }
        let end = 2 + Int(message[0]) << 8 + Int(message[1])
        let acknowledgement: [UInt8] = [0x40, 2, message[end], message[end + 1]]
        _ = send(client, acknowledgement, 4, Int32(MSG_NOSIGNAL))
        _ = Self.packet(client)
      }
    }
    let sink = MQTTSink(try Self.plan(port))
    try Self.deliver(Self.message(), by: sink)
    sink.end()
    hasEnded.wait()
    #expect(levels.withLock { $0 } == [5, 4])
  }

  /// A packet of less than 128 bytes, without its header; empty at the end.
  private static func packet(_ client: Int32) -> [UInt8] {
    var header: [UInt8] = [0, 0]
    guard recv(client, &header, 2, Int32(MSG_WAITALL)) == 2, header[1] > 0 else {
      return []
    }
    var body = [UInt8](repeating: 0, count: Int(header[1]))
    return recv(client, &body, body.count, Int32(MSG_WAITALL)) == body.count ? body : []
  }

  @Test func aMessageHasTheFormOfItsConsumer() throws {
    let broker = try Broker()
    let client = try broker.subscriber(to: "quake/#")
    var plan = try Self.plan(broker.port, topic: "quake/{code}")
    plan.form = .text(try MessageTemplate("M {magnitude}"))
    try Self.deliver(Self.message(), by: MQTTSink(plan))
    #expect(try Broker.message(of: client) == "0 quake/us1 M 6.1")
  }
}
