import Basics
import CommandLine
import QuakeSinks

/// The keys of a consumer whose messages go to an MQTT broker.
enum MQTTKeys {
  static let options: [Option] = [
    .value("mqtt", "URL", help: "publish messages at this broker: mqtts://HOST or mqtt://HOST"),
    .value(
      "topic", "TEXT", default: "quake/{conversation} or quake/{code}",
      help: "the topic of a message, with values"),
    .value("retain", "WHICH", default: "never", help: "what the broker keeps: never, always, open"),
    .value("qos", "0|1|2", default: "1", help: "the quality of service"),
    .value("user-file", "FILE", help: "a file with user and password, a line each"),
    .value("client-id", "TEXT", default: "quake-NAME", help: "the id at the broker"),
    .value("discovery", "PREFIX", help: "Home Assistant discovers a sensor: homeassistant"),
  ]

  /// The broker and the topics that the keys of a section describe.
  ///
  /// - Parameter file: The bytes of the file that a key names; nil if the key is not given.
  static func plan(
    _ keys: ParsedArguments, _ form: MessageForm, of consumer: String,
    file: (String) throws -> [UInt8]?
  ) throws -> MQTTPlan {
    let text = keys.string("mqtt") ?? ""
    let address: MQTTAddress
    do throws(MQTTAddress.Invalid) {
      address = try MQTTAddress(text)
    } catch {
      // Not with the value, which may have a password.
      throw keys.invalidValue("…", for: "mqtt", expected: error.expected)
    }
    var plan = MQTTPlan(consumer: consumer, address: address, topic: try topic(keys))
    plan.form = form
    plan.retain =
      try keys.choice("retain", of: MQTTPlan.Retain.allCases.map(\.rawValue))
      .flatMap(MQTTPlan.Retain.init) ?? .never
    if plan.retain == .open { try checkRetained(keys) }
    plan.quality = try keys.integer("qos", in: 0...2) ?? 1
    plan.certificateAuthorityFile = try SinkKeys.authorities(keys)
    if let limit = try keys.duration("timeout", in: .milliseconds(100) ... .seconds(600)) {
      plan.timeout = limit
    }
    if let bytes = try file("user-file") {
      do throws(MQTTCredentials.Invalid) {
        plan.credentials = try MQTTCredentials(String(decoding: bytes, as: UTF8.self))
      } catch {
        throw keys.invalidValue(
          keys.string("user-file") ?? "", for: "user-file",
          expected: "a file with \(error.expected)")
      }
    }
    if let id = keys.string("client-id") {
      guard (1...200).contains(id.utf8.count), id.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
      else {
        throw keys.invalidValue(id, for: "client-id", expected: "1 to 200 bytes without spaces")
      }
      plan.clientID = id
    }
    if let prefix = keys.string("discovery") {
      plan.discoveryPrefix = try checked(prefix, "discovery", keys)
    }
    return plan
  }

  /// The last message of an earthquake must have the topic of the others, or the broker would keep these for ever.
  private static func checkRetained(_ keys: ParsedArguments) throws {
    let lasting = keys.flag("alert") ? "{conversation}" : "{code}"
    guard let topic = keys.string("topic") else { return }
    let rest = topic.replacing(lasting, with: "")
    guard topic.contains(lasting), !rest.contains("{") else {
      throw keys.invalidValue(
        topic, for: "topic",
        expected: "with retain = open a topic with \(lasting), and without other values")
    }
  }

  private static func topic(_ keys: ParsedArguments) throws -> MessageTemplate {
    let usual = keys.flag("alert") ? "quake/{conversation}" : "quake/{code}"
    let text = try keys.string("topic").map { try checked($0, "topic", keys) } ?? usual
    do throws(MessageTemplate.Invalid) {
      return try MessageTemplate(text)
    } catch {
      throw keys.invalidValue(text, for: "topic", expected: "a topic, but \(error.problem)")
    }
  }

  /// A topic, or its beginning, at which a client may publish.
  private static func checked(
    _ text: String, _ key: String, _ keys: ParsedArguments
  ) throws -> String {
    let isTopic =
      !text.isEmpty && text.first != "$" && !text.contains("+") && !text.contains("#")
      && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    guard isTopic else {
      throw keys.invalidValue(
        text, for: key,
        expected: "a topic without the wildcards + and #, and without $ at its begin")
    }
    return text
  }
}
