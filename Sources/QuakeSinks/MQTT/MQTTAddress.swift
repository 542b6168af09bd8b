/// The address of an MQTT broker: `mqtt://host`, or with TLS `mqtts://host`.
package struct MQTTAddress: Hashable, Sendable {
  package let host: String
  package let port: Int
  package let usesTLS: Bool

  /// A text that is no address.
  package struct Invalid: Error {
    /// What was expected instead.
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
