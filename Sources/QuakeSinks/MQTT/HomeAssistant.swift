internal import Basics
internal import QuakeConsumers
internal import QuakeModel

/// What Home Assistant discovers: a device for the consumer, with a sensor of the newest earthquake.
///
/// https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery
struct HomeAssistant {
  /// The prefix of its discovery topics, usually `homeassistant`.
  let prefix: String
  let consumer: String

  /// The topic with the earthquake that the sensor shows, which is retained.
  var stateTopic: String { "quake/\(MQTTTopic.part(consumer))/newest" }

  /// Ids have letters, digits, `_` and `-`.
  private var id: String {
    "quake_"
      + String(
        consumer.unicodeScalars.map { scalar -> Character in
          switch scalar {
          case "a"..."z", "A"..."Z", "0"..."9", "_", "-": Character(scalar)
          default: "_"
          }
        })
  }

  var announcement: MQTTConnection.Publication {
    let name = EscapedText.quoted("Quake \(consumer)")
    let topic = EscapedText.quoted(stateTopic)
    var publication = MQTTConnection.Publication(
      topic: "\(prefix)/sensor/\(id)/newest/config",
      payload: Array(
        """
        {"name":"Newest earthquake","unique_id":"\(id)_newest","state_topic":\(topic),\
        "value_template":"{{ value_json.magnitude }}","json_attributes_topic":\(topic),\
        "state_class":"measurement","suggested_display_precision":1,"icon":"mdi:pulse","qos":1,\
        "device":{"identifiers":["\(id)"],"name":\(name),"manufacturer":"Quake",\
        "model":"Consumer of quake-watch"},"origin":{"name":"quake-watch"}}
        """.utf8))
    publication.isRetained = true
    return publication
  }

  /// The state of the sensor after a message; nil if it tells of an older earthquake than `shown`, which is the state
  /// that the broker has.
  func state(_ message: Message, after shown: String?) -> String? {
    isNewest(message, after: shown) ? Self.text(message) : nil
  }

  func publication(of state: String) -> MQTTConnection.Publication {
    var publication = MQTTConnection.Publication(topic: stateTopic, payload: Array(state.utf8))
    publication.isRetained = true
    return publication
  }

  /// Subject and time come first, where `isNewest` reads them.
  private static func text(_ message: Message) -> String {
    func text(_ name: String) -> String {
      message[variable: name].map { EscapedText.quoted($0) } ?? "null"
    }
    // An earthquake that was retracted has no magnitude to show.
    func number(_ name: String) -> String {
      guard let value = message[variable: name].flatMap(Double.init), value.isFinite else {
        return "null"
      }
      return "\(value)"
    }
    let isGone = message.kind == .retracted || (message.kind == .change && message.isLast)
    return """
      {"subject":\(EscapedText.quoted(message.subject)),"time":\(text("QUAKE_TIME")),\
      "magnitude":\(isGone ? "null" : number("QUAKE_MAGNITUDE")),"place":\(text("QUAKE_PLACE")),\
      "depth":\(number("QUAKE_DEPTH")),"latitude":\(number("QUAKE_LATITUDE")),\
      "longitude":\(number("QUAKE_LONGITUDE")),"code":\(text("QUAKE_CODE")),"url":\(text("QUAKE_URL")),\
      "text":\(text("QUAKE_TEXT")),"alert":\(text("QUAKE_ALERT")),"id":\(EscapedText.quoted(message.id))}
      """
  }

  private func isNewest(_ message: Message, after shown: String?) -> Bool {
    // Of an unknown sensor, an earthquake that nothing more is told of is not the newest.
    guard let shown, shown.hasPrefix("{\"subject\":") else { return !message.isLast }
    if shown.hasPrefix("{\"subject\":\(EscapedText.quoted(message.subject)),") { return true }
    let key = "\",\"time\":\""
    guard let begin = shown.firstRange(of: key)?.upperBound,
      let end = shown[begin...].firstIndex(of: "\""),
      let time = Timestamp(iso8601: String(shown[begin..<end])),
      let own = message[variable: "QUAKE_TIME"].flatMap({ Timestamp(iso8601: $0) })
    else { return !message.isLast }
    return own >= time
  }
}
