internal import QuakeConsumers
internal import QuakeModel

/// How messages are written for a receiver.
package enum MessageForm: Hashable, Sendable {
  /// The message's JSON; with a template that is JSON, the template with the message's values.
  case json(MessageTemplate?)
  /// CloudEvents 1.0, structured: an envelope around the message's JSON.
  ///
  /// - source: Together with its id it identifies a message for ever: a URI reference.
  case cloudEvents(source: String)
  /// The template with the message's values.
  case text(MessageTemplate)

  package static func source(of consumer: String) -> String {
    "/quake/consumers/" + PercentEncoding.text(consumer)
  }

  func mediaType(isArray: Bool) -> String {
    switch self {
    case .json: "application/json"
    case .cloudEvents:
      isArray ? "application/cloudevents-batch+json" : "application/cloudevents+json"
    case .text: "text/plain; charset=utf-8"
    }
  }

  /// A request's body: a message, or an array of them; text with a message on each line.
  func body(_ messages: [Message], asArray: Bool) -> [UInt8] {
    if case .text = self { return lines(messages, lastEnds: false) }
    guard asArray else { return messages.first.map { Array(text($0).utf8) } ?? [] }
    var bytes: [UInt8] = [0x5B]
    for (index, message) in messages.enumerated() {
      if index > 0 { bytes.append(0x2C) }
      bytes += text(message).utf8
    }
    bytes.append(0x5D)
    return bytes
  }

  /// The messages on a line each.
  ///
  /// - Parameter lastEnds: Whether the last line has its line feed.
  func lines(_ messages: [Message], lastEnds: Bool = true) -> [UInt8] {
    var bytes: [UInt8] = []
    for message in messages {
      bytes += text(message).utf8
      bytes.append(0x0A)
    }
    if !lastEnds, !bytes.isEmpty { bytes.removeLast() }
    return bytes
  }

  private func text(_ message: Message) -> String {
    switch self {
    case .json(nil): message.data
    case .json(let template?): template.json(message)
    case .text(let template): template.text(message)
    case .cloudEvents(let source): Self.cloudEvent(message, source)
    }
  }

  private static func cloudEvent(_ message: Message, _ source: String) -> String {
    var json = JSONWriter()
    json.object { json in
      json.member("specversion", "1.0")
      json.member("id", message.id)
      json.member("source", source)
      json.member("type", message.kind == .change ? "quake.change" : "quake.alert.\(message.kind)")
      // It must not be empty: a truncate concerns no event.
      if !message.subject.isEmpty { json.member("subject", message.subject) }
      if let time = message[variable: "QUAKE_AT"] { json.member("time", time) }
      json.member("datacontenttype", "application/json")
      json.key("data")
      json.bool(true)
    }
    // The data are JSON already: they take the place of the last value.
    return String(decoding: json.take().dropLast("true}".utf8.count), as: UTF8.self)
      + message.data + "}"
  }
}
