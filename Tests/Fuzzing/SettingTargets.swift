import Simdjson

@testable import EmbeddedPostgres
@testable import QuakeClient
@testable import QuakeConsumers
@testable import QuakeModel
@testable import QuakeSinks

/// What a user writes in single settings and in small files: templates of messages, receivers' URLs, keys, headers.
enum SettingTargets {
  static let all: [FuzzTarget] = [
    FuzzTarget(
      name: "settings", longest: 512,
      words: [
        "{{", "}}", "{magnitude}", "{place}", "\"", "\\", ": ", ", ", "[", "]", "null",
        "https://", "http://", "@", ":", "/", "?", "#", "[::1]", "%2f", "localhost",
        "whsec_", "\r\n", "=", "Authorization: Bearer ", "ready", "starting",
      ],
      seeds: {
        [
          "M {magnitude} {place}, {{x}}",
          #"{{"text": "{alert}: {place}", "n": [1, "{code}"]}}"#,
          #"["{text}\n", {{"\u00e9{id}": true}}]"#,
          "https://user:password@hooks.example.org:8443/services/T0/B0?token=abc#x",
          "HTTP://[::1]/", "http://2130706433/secret-path",
          "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz\n",
          " whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNA==\r\n\nwhsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNA",
          "Authorization: Bearer x\r\n\nX-Key:  y \n",
          "12345\n/data\n1700000000\n5432\n/tmp\nlocalhost\n  1 2\nready   \n",
        ].map { Array($0.utf8) }
      }, check: check)
  ]

  @Sendable private static func check(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    checkTemplate(text)
    checkURL(text)
    checkKeys(bytes)
    checkHeaders(bytes)
    if let postmaster = EmbeddedServer.Postmaster(text) {
      require(postmaster.pid > 0, "a process has a positive number")
    }
  }

  /// No value of a message makes something else than JSON of a template that is JSON.
  private static func checkTemplate(_ text: String) {
    guard let template = try? MessageTemplate(text), let token = ChangeToken("1.9f3ac2d1") else {
      return
    }
    let names = MessageVariable.names.map(MessageVariable.variable)
    let hostile = ["\"", "\\", "\"}", "\u{0}\n\u{1B}", "{id}", "é\u{202E}"]
    let message = Message(
      id: "1", kind: .change, subject: "", token: token,
      variables: names.enumerated().map {
        Message.Variable(name: $1, value: hostile[$0 % hostile.count])
      }, data: "{}")
    _ = template.text(message)
    do throws(MessageTemplate.Invalid) { try template.checkJSON() } catch { return }
    let made = template.json(message)
    // The parser takes objects alone.
    let object = Array("{\"a\":".utf8) + Array(made.utf8) + Array("}".utf8)
    // One level deeper than the template may be.
    guard !text.utf8.starts(with: String(repeating: "[", count: 32).utf8) else { return }
    do throws(InvalidJSON) {
      let parser = JSONParser()
      let count = try parser.object(object).reduce(0) { count, _ in count + 1 }
      require(count == 1, "the JSON is one value: \(made)")
    } catch {
      require(error.problem.contains("depth"), "it is JSON: \(made): \(error.problem)")
    }
  }

  /// What is shown is the host that libcurl connects to, and nothing of a secret.
  private static func checkURL(_ text: String) {
    guard let url = try? ReceiverURL(text) else { return }
    require(!url.shown.contains("@"), "\(url.shown) has no user")
    require(
      url.shown.hasPrefix("http://") || url.shown.hasPrefix("https://"),
      "\(url.shown) is of the web")
    let end = url.shown.hasSuffix("/***") ? url.shown.dropLast(4) : Substring(url.shown)
    let again = try? ReceiverURL(String(end))
    require(again?.host == url.host, "\(url.shown) has the host \(url.host): \(text)")
  }

  /// An error repeats nothing of a key.
  private static func checkKeys(_ bytes: [UInt8]) {
    do throws(WebhookKey.Invalid) {
      require((1...2).contains(try WebhookKey.read(bytes).count), "there are one or two keys")
    } catch {
      let lines = bytes.count { $0 == 0x0A } + 1
      require((0...lines).contains(error.line), "the error is on a line of the file")
    }
  }

  private static func checkHeaders(_ bytes: [UInt8]) {
    guard let fields = try? HeaderFile.read(bytes) else { return }
    for field in fields {
      require(
        field.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a field has no control characters")
      // A letter that combines with the space before it makes one character with it.
      require(field.utf8.contains(UInt8(ascii: ":")), "a field has a name and a value")
    }
    let written = fields.joined(separator: "\n")
    require((try? HeaderFile.read(Array(written.utf8))) == fields, "the fields are read again")
  }
}
