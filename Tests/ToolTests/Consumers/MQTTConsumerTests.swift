import Foundation
import TestSupport
import Testing

/// A consumer of `quake-watch run` whose messages go to mosquitto.
@Suite final class MQTTConsumerTests: ExecSuite {
  private func run(_ lines: String...) throws -> ToolProcess {
    let file = try folder.write(
      "watch.conf", (["[consumer home]", "from = start"] + lines).joined(separator: "\n") + "\n")
    return try database.start(
      "quake-watch", ["run", "--config", file], environment: ["XDG_STATE_HOME": folder.path],
      folder: folder.path)
  }

  private func insert(_ code: String, magnitude: Double) throws {
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude, depth, latitude, longitude, place)
        values ('\(code)', now() - interval '1 min', \(magnitude), 10, 38.1, 20.6, 'a/b + c#');
      """)
  }

  /// The topic and the JSON of the next message.
  private func next(_ client: ToolProcess) throws -> (topic: String, message: JSONLine) {
    let line = try Broker.message(of: client).split(separator: " ", maxSplits: 2).map(String.init)
    try #require(line.count == 3)
    return (line[1], try JSONLine(line[2]))
  }

  @Test(.enabled(if: Broker.isInstalled, "\(Broker.isMissing)"))
  func aConversationIsATopicUntilItIsOver() throws {
    let broker = try Broker()
    let client = try broker.subscriber(to: "quake/+")
    let watcher = try run(
      "alert = true", "min-magnitude = 5", "mqtt = mqtt://127.0.0.1:\(broker.port)",
      "retain = open", "discovery = homeassistant")
    try insert("us1", magnitude: 6.1)
    let opened = try next(client)
    #expect(opened.message.string("alert") == "opened")
    let conversation = try #require(opened.message.string("conversation"))
    #expect(opened.topic == "quake/\(conversation)")

    try database.psql("update quake.quake set magnitude = 6.6;")
    let updated = try next(client)
    #expect(updated.topic == opened.topic && updated.message.string("alert") == "updated")
    #expect(try broker.retained("quake/+") == ["\(opened.topic) \(updated.message.text)"])
    let sensor = try #require(try broker.retained("quake/home/newest").first)
    #expect(try JSONLine(String(sensor.dropFirst(18))).double("magnitude") == 6.6)
    #expect(try broker.retained("homeassistant/#").count == 1)

    try database.psql("delete from quake.quake;")
    let retracted = try next(client)
    #expect(retracted.topic == opened.topic && retracted.message.string("alert") == "retracted")
    try eventually("the broker has forgotten the earthquake") {
      try broker.retained("quake/+").isEmpty
    }
    #expect(!watcher.hasEnded, "\(watcher.errorText)")
  }

  @Test(arguments: [
    ("mqtt = http://broker", "watch.conf:3: invalid value '…' for key 'mqtt': expected mqtt://"),
    ("mqtt = mqtt://me:secret@broker", "user and password in a file"),
    ("mqtt = mqtt://broker\ntopic = quake/#", "expected a topic without the wildcards"),
    ("output = stdout\nqos = 1", "key 'qos' is for consumers with a broker (mqtt)"),
  ])
  func aMistakeIsFoundBeforeAnythingIsDone(lines: String, message: String) throws {
    let outcome = try run(lines).exit().expect(64, message)
    #expect(!outcome.errors.contains("secret"))
  }
}
