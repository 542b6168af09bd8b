import Basics
import Foundation
import QuakeConsumers
import TestSupport
import Testing

@testable import QuakeSinks

/// The device and the sensor that Home Assistant discovers.
@Suite(.enabled(if: Broker.isInstalled, "\(Broker.isMissing)"))
struct HomeAssistantTests {
  private static func plan(_ broker: Broker) throws -> MQTTPlan {
    var plan = try MQTTSinkTests.plan(broker.port)
    plan.discoveryPrefix = "homeassistant"
    return plan
  }

  private static func quake(
    _ subject: String, _ time: String, _ kind: Message.Kind = .opened, magnitude: String = "6.1"
  ) throws -> Message {
    try MQTTSinkTests.message(
      1, kind, subject: subject,
      variables: [
        "QUAKE_TIME": time, "QUAKE_MAGNITUDE": magnitude, "QUAKE_LATITUDE": "38.1",
        "QUAKE_LONGITUDE": "-20.6", "QUAKE_DEPTH": "10", "QUAKE_PLACE": "\"Ionian\" Sea",
      ])
  }

  private static let newest = "quake/test/newest"

  /// The retained state of the sensor.
  private static func state(_ broker: Broker) throws -> JSONLine? {
    try broker.retained(newest).first.map { try JSONLine(String($0.dropFirst(newest.count + 1))) }
  }

  @Test func theSensorIsAnnouncedOnceForEachConnection() throws {
    let broker = try Broker()
    let client = try broker.subscriber(to: "homeassistant/#")
    let sink = MQTTSink(try Self.plan(broker))
    for day in 1...2 {
      try MQTTSinkTests.deliver(Self.quake("\(day)", "2026-11-0\(day)T10:00:00Z"), by: sink)
    }
    try MQTTSinkTests.deliver(
      Self.quake("3", "2026-11-03T10:00:00Z"), by: MQTTSink(try Self.plan(broker)))
    let topic = "homeassistant/sensor/quake_test/newest/config"
    let announcements = try (1...2).map { _ in try Broker.message(of: client) }
    #expect(announcements.allSatisfy { $0.hasPrefix("0 \(topic) {") })
    let retained = try broker.retained("homeassistant/#")
    #expect(retained == [String(announcements[0].dropFirst(2))])
    let sensor = try JSONLine(String(retained[0].dropFirst(topic.count + 1)))
    #expect(sensor.string("state_topic") == Self.newest)
    #expect(sensor.string("json_attributes_topic") == Self.newest)
    #expect(sensor.string("unique_id") == "quake_test_newest")
    #expect(sensor["device"]?.string("name") == "Quake test")
  }

  @Test func theSensorShowsTheNewestEarthquake() throws {
    let broker = try Broker()
    var sink = MQTTSink(try Self.plan(broker))
    try MQTTSinkTests.deliver(Self.quake("new", "2026-11-02T10:00:00Z"), by: sink)
    let state = try #require(try Self.state(broker))
    #expect(state.double("magnitude") == 6.1 && state.double("longitude") == -20.6)
    #expect(state.string("place") == "\"Ionian\" Sea")
    // What is told of an older one changes nothing, also after a restart.
    try MQTTSinkTests.deliver(Self.quake("old", "2026-11-02T09:59:59.9Z"), by: sink)
    sink = MQTTSink(try Self.plan(broker))
    try MQTTSinkTests.deliver(Self.quake("older", "2026-10-02T10:00:00Z", .updated), by: sink)
    #expect(try Self.state(broker)?.string("subject") == "new")
    // Its own revision does, even if the earthquake was earlier.
    let revision = try Self.quake("new", "2026-11-02T09:59:58Z", .updated, magnitude: "5.9")
    try MQTTSinkTests.deliver(revision, by: sink)
    #expect(try Self.state(broker)?.double("magnitude") == 5.9)
    try MQTTSinkTests.deliver(Self.quake("new", "2026-11-02T09:59:58Z", .retracted), by: sink)
    #expect(try Self.state(broker)?.isNull("magnitude") == true)
    #expect(try Self.state(broker)?.string("subject") == "new")
  }

  @Test func anEarthquakeThatIsOverIsNotTheFirstToShow() throws {
    let broker = try Broker()
    let sink = MQTTSink(try Self.plan(broker))
    try MQTTSinkTests.deliver(Self.quake("old", "2026-10-02T10:00:00Z", .closed), by: sink)
    #expect(try Self.state(broker) == nil)
  }
}
