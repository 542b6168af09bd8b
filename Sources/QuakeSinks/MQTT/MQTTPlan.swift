package import Basics
internal import QuakeConsumers

/// How messages go to an MQTT broker.
package struct MQTTPlan: SinkPlan {
  /// Which messages the broker keeps for clients that come later.
  package enum Retain: String, CaseIterable, Sendable {
    case never
    /// The last one of each topic.
    case always
    /// The last one of each topic, until the earthquake is retracted or closed, or the event is deleted.
    case open
  }

  package var consumer: String
  package var address: MQTTAddress
  /// The topic of a message, such as `quake/{conversation}`.
  package var topic: MessageTemplate
  package var form = MessageForm.json(nil)
  package var retain = Retain.never
  /// 0: sent; 1: the broker has it; 2: it has it once.
  package var quality = 1
  package var credentials: MQTTCredentials?
  /// A PEM file with the certificate authorities to trust instead of the system's.
  package var certificateAuthorityFile: String?
  /// By default `quake-` and the consumer's name.
  package var clientID: String?
  /// The broker ends an older connection with the same id.
  package var client: String { clientID ?? "quake-\(consumer)" }
  package var timeout = Duration.seconds(30)
  /// The prefix of Home Assistant's discovery topics; nil: Home Assistant is not told.
  package var discoveryPrefix: String?

  package init(consumer: String, address: MQTTAddress, topic: MessageTemplate) {
    self.consumer = consumer
    self.address = address
    self.topic = topic
  }

  package var shown: String { address.text }

  package func sink(in loop: CurlLoop) -> any Sink { MQTTSink(self) }

  var homeAssistant: HomeAssistant? {
    discoveryPrefix.map { HomeAssistant(prefix: $0, consumer: consumer) }
  }

  /// What is published for a message, in this order.
  func publications(for message: Message) -> [MQTTConnection.Publication] {
    var publication = MQTTConnection.Publication(
      topic: topic.text(message.forTopic), payload: form.body([message], asArray: false))
    publication.quality = quality
    publication.contentType = form.mediaType(isArray: false)
    publication.isRetained = retain == .always || (retain == .open && !message.isLast)
    guard retain == .open, message.isLast else { return [publication] }
    // Who listens gets the message; who comes later gets nothing.
    var clearing = publication
    clearing.payload = []
    clearing.contentType = nil
    clearing.isRetained = true
    return [publication, clearing]
  }
}

extension Message {
  /// Whether nothing more is told of the earthquake, or of the event.
  var isLast: Bool {
    switch kind {
    case .retracted, .closed: true
    case .opened, .updated: false
    case .change: self[variable: "QUAKE_OP"] == "delete"
    }
  }

  /// The message with values that can be parts of a topic.
  fileprivate var forTopic: Message {
    Message(
      id: id, kind: kind, subject: subject, token: token,
      variables: variables.map { Variable(name: $0.name, value: MQTTTopic.part($0.value)) },
      data: data)
  }
}

/// A part of a topic that comes from a value.
enum MQTTTopic {
  /// The value with `_` instead of what separates the parts of a topic (`/`), of what is a wildcard for subscribers
  /// (`+`, `#`), and of characters that a topic cannot have.
  static func part(_ value: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in value.unicodeScalars {
      let isForbidden =
        switch scalar.value {
        case 0x2B, 0x23, 0x2F: true
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0xFDD0...0xFDEF: true
        default: scalar.value & 0xFFFE == 0xFFFE
        }
      result.append(isForbidden ? "_" : scalar)
    }
    return String(result)
  }
}

/// The user and the password for a broker, from a file: the user on the first line, the password on the second.
package struct MQTTCredentials: Hashable, Sendable {
  package let user: String
  /// Nil if the broker knows the user by the name alone.
  package let password: String?

  /// The most bytes of a file.
  package static let longest = 4096

  package struct Invalid: Error {
    package let expected: String
  }

  package init(_ text: String) throws(Invalid) {
    let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
      .map { String(Substring($0.last == 0x0D ? $0.dropLast() : $0)) }
    guard let user = lines.first, !user.isEmpty, !text.utf8.contains(0),
      lines.dropFirst(2).allSatisfy(\.isEmpty)
    else {
      throw Invalid(expected: "the user on the first line and the password on the second")
    }
    self.user = user
    password = lines.count > 1 && !lines[1].isEmpty ? lines[1] : nil
  }
}

/// The address of an MQTT broker: `mqtt://host`, or with TLS `mqtts://host`.
package struct MQTTAddress: Hashable, Sendable {
  package let host: String
  package let port: Int
  package let usesTLS: Bool

  package struct Invalid: Error {
    package let expected: String
  }

  package init(_ text: String) throws(Invalid) {
    let form = "mqtt://HOST or mqtts://HOST, also with :PORT"
    guard let separator = text.firstRange(of: "://") else { throw Invalid(expected: form) }
    switch text[..<separator.lowerBound].lowercased() {
    case "mqtt": usesTLS = false
    case "mqtts": usesTLS = true
    default: throw Invalid(expected: form)
    }
    var rest = text[separator.upperBound...]
    if rest.last == "/" { rest.removeLast() }
    if rest.contains("@") {
      throw Invalid(expected: "\(form), and user and password in a file (user-file)")
    }
    if rest.contains("/") { throw Invalid(expected: "\(form); the topic has an option of its own") }
    if rest.first == "[", let end = rest.firstIndex(of: "]") {
      host = String(rest[rest.index(after: rest.startIndex)..<end])
      rest = rest[rest.index(after: end)...]
    } else {
      let end = rest.firstIndex(of: ":") ?? rest.endIndex
      host = String(rest[..<end])
      rest = rest[end...]
    }
    let isName = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    guard !host.isEmpty, host.utf8.count <= 255, isName else { throw Invalid(expected: form) }
    guard let colon = rest.first else {
      port = usesTLS ? 8883 : 1883
      return
    }
    guard colon == ":", let port = Int(rest.dropFirst()), (1...65_535).contains(port) else {
      throw Invalid(expected: "\(form) from 1 to 65535")
    }
    self.port = port
  }

  /// The address as it is written.
  package var text: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(usesTLS ? "mqtts" : "mqtt")://\(name):\(port)"
  }
}
