import Foundation
import QuakeConsumers
import QuakeSinks
import TestSupport
import Testing

/// What a receiver of webhooks gets.
@Suite(.enabled(if: Clients.python != nil, "\(Clients.isMissing)"))
struct WebhookTests {
  private static let key = "whsec_" + Data((0..<32).map { UInt8($0) }).base64EncodedString()
  private static let otherKey =
    "whsec_" + Data((0..<24).map { UInt8(255 - $0) }).base64EncodedString()

  @Test func aMessageIsPostedAsItsJSON() throws {
    let receiver = try Receiver()
    var plan = WebhookPlan(try ReceiverURL(receiver.url("/ok")))
    plan.headers = ["X-Api-Key: a secret"]
    let message = try Message.example()
    #expect(try SinkDriver(plan).deliver([message]).isDelivered)
    let request = try receiver.request()
    #expect(request.line.string("method") == "POST")
    #expect(request.body == message.data)
    #expect(request.headers["content-type"] == "application/json")
    #expect(request.headers["webhook-id"] == message.id)
    #expect(request.headers["webhook-timestamp"].flatMap { Int($0) } != nil)
    #expect(request.headers["x-api-key"] == "a secret")
    #expect(request.headers["webhook-signature"] == nil)
    #expect(request.headers["expect"] == nil)
  }

  @Test func aLibraryVerifiesTheSignaturesOfBothKeys() throws {
    let receiver = try Receiver(secrets: [Self.key, Self.otherKey])
    var plan = WebhookPlan(try ReceiverURL(receiver.url("/ok")))
    plan.keys = try WebhookKey.read(Array("\(Self.key)\n\n  \(Self.otherKey)\r\n".utf8))
    plan.compresses = true
    let message = try Message.example(place: "Zürich \u{1F30D}")
    #expect(try SinkDriver(plan).deliver([message]).isDelivered)
    let request = try receiver.request()
    let words = request.line.text
    #expect(words.contains("\"verified\": [true, true]"), "\(words)")
    #expect(request.headers["webhook-signature"]?.split(separator: " ").count == 2)
    #expect(request.headers["content-encoding"] == "gzip")
    #expect(request.body == message.data)
  }

  @Test func aBatchIsAnArrayWithAnIdOfItsContents() throws {
    let receiver = try Receiver()
    var plan = WebhookPlan(try ReceiverURL(receiver.url("/fail/1/ok")))
    plan.isBatch = true
    let messages = try (3...5).map { try Message.example($0) }
    let driver = SinkDriver(plan)
    #expect(try driver.failure(messages).isFinal == false)
    #expect(try driver.deliver(messages).isDelivered)
    let requests = [try receiver.request(), try receiver.request()]
    for request in requests {
      #expect(request.body == "[" + messages.map(\.data).joined(separator: ",") + "]")
      #expect(request.headers["webhook-id"]?.hasPrefix("\(messages[0].id)+2-") == true)
    }
    let ids = requests.map { $0.headers["webhook-id"] }
    #expect(ids[0] == ids[1])
    // The connection is kept.
    #expect(requests[0].line.integer("peer") == requests[1].line.integer("peer"))
    #expect(try driver.deliver([messages[2]]).isDelivered)
    let single = try receiver.request()
    #expect(single.body == "[\(messages[2].data)]")
    #expect(single.headers["webhook-id"] == messages[2].id)
    // A receiver that remembers ids must not take other messages for the same ones.
    let other = try [messages[0], messages[1], Message.example(9)]
    #expect(try driver.deliver(other).isDelivered)
    let id = try receiver.request().headers["webhook-id"]
    #expect(id != ids[0] && id?.hasPrefix("\(messages[0].id)+2-") == true)
  }

  @Test func theSDKReadsCloudEvents() throws {
    let receiver = try Receiver()
    var plan = WebhookPlan(try ReceiverURL(receiver.url("/ok")))
    plan.form = .cloudEvents(source: MessageForm.source(of: "siren 1"))
    let at = Message.Variable(name: "QUAKE_AT", value: "2026-11-21T03:00:00.25Z")
    let messages = [
      try Message.example(1, variables: [at]),
      try Message.example(2, kind: .change, variables: [at]),
    ]
    #expect(try SinkDriver(plan).deliver([messages[0]]).isDelivered)
    plan.isBatch = true
    #expect(try SinkDriver(plan).deliver(messages).isDelivered)
    let single = try receiver.request()
    #expect(single.headers["content-type"] == "application/cloudevents+json")
    let batch = try receiver.request()
    #expect(batch.headers["content-type"] == "application/cloudevents-batch+json")
    let events = (single.line.objects("events") ?? []) + (batch.line.objects("events") ?? [])
    #expect(events.map { $0.string("id") } == [messages[0].id, messages[0].id, messages[1].id])
    #expect(
      events.map { $0.string("type") }
        == ["quake.alert.opened", "quake.alert.opened", "quake.change"])
    for event in events {
      #expect(event.string("source") == "/quake/consumers/siren%201")
      #expect(event.string("subject") == messages[0].subject)
      #expect(event.string("time") == "2026-11-21 03:00:00.250000+00:00")
    }
    #expect(events[2]["data"]?.string("id") == messages[1].id)
  }

  @Test func aTemplateMakesTextOrJSON() throws {
    let receiver = try Receiver()
    var plan = WebhookPlan(try ReceiverURL(receiver.url("/ok")))
    let message = try Message.example(place: "\"Near\"\\\u{1B} Zürich")
    plan.form = .text(try MessageTemplate("M {magnitude} {place}"))
    #expect(try SinkDriver(plan).deliver([message]).isDelivered)
    let text = try receiver.request()
    #expect(text.headers["content-type"] == "text/plain; charset=utf-8")
    #expect(text.body == "M 5.2 \"Near\"\\\u{1B} Zürich")
    plan.form = .json(try MessageTemplate(#"{{"chat": 7, "text": "M {magnitude} {place}"}}"#))
    #expect(try SinkDriver(plan).deliver([message]).isDelivered)
    let json = try receiver.request()
    #expect(json.headers["content-type"] == "application/json")
    let line = try JSONLine(json.body)
    #expect(line.integer("chat") == 7)
    #expect(line.string("text") == text.body)
  }

  @Test func aLongBodyIsSentAtOnce() throws {
    let receiver = try Receiver()
    let plan = WebhookPlan(try ReceiverURL(receiver.url("/ok")))
    let example = try Message.example()
    let long = Message(
      id: example.id, kind: .change, subject: "x", token: example.token, variables: [],
      data: "{\"text\":\"" + String(repeating: "ü", count: 2_000_000) + "\"}")
    #expect(try SinkDriver(plan).deliver([long]).isDelivered)
    #expect(try receiver.request().line.integer("size") == long.data.utf8.count)
  }
}
