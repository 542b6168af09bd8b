import Basics
import CommandLine
import Glibc
import QuakeClient
import QuakeConsumers
import QuakeSinks
import QuakeTool

/// The keys of a consumer that say where its messages go.
enum SinkKeys {
  static let options: [Option] = [
    .value("exec", "COMMAND", help: "run a command for each message"),
    .value("exec-batch", "COMMAND", help: "run a command for messages, a line each"),
    .value("output", "stdout", help: "write a line to standard output"),
    .value("webhook", "URL", help: "post messages to this address"),
    .value("webhook-file", "FILE", help: "the same; the file has the address"),
    .value("form", "FORM", default: "json", help: "json, cloudevents or text"),
    .value("template", "TEXT", help: "the text, with values such as {magnitude}"),
    .value("secret-file", "FILE", help: "one or two keys that sign, a line each"),
    .value("header-file", "FILE", help: "header fields to send, a line each"),
    .flag("gzip", help: "compress requests"),
    .value("timeout", "DURATION", help: "the longest time for an attempt"),
    .value("ca-file", "FILE", help: "certificate authorities to trust"),
    .flag("allow-private", help: "follow redirects to private addresses"),
  ]

  private static let receivers = [
    "exec", "exec-batch", "output", "webhook", "webhook-file", "mqtt",
  ]
  private static let ofWebhooks = [
    "secret-file", "header-file", "gzip", "allow-private",
  ]

  /// The sink that the keys of a section describe.
  static func plan(_ keys: ParsedArguments, of consumer: String) throws -> any SinkPlan {
    let given = receivers.filter { keys.isGiven($0) }
    guard given.count == 1 else {
      throw keys.contradiction(
        given.isEmpty
          ? "it has no receiver: expected one of the keys \(receivers.joined(separator: ", "))"
          : "keys \(given.map { "'\($0)'" }.joined(separator: " and ")) cannot be used together")
    }
    let isWebhook = given[0].hasPrefix("webhook")
    for name in ofWebhooks where keys.isGiven(name) && !isWebhook {
      throw keys.contradiction("key '\(name)' is for consumers with a webhook")
    }
    let isBroker = given[0] == "mqtt"
    for option in MQTTKeys.options where keys.isGiven(option.name) && !isBroker {
      throw keys.contradiction("key '\(option.name)' is for consumers with a broker (mqtt)")
    }
    if keys.isGiven("ca-file"), !isWebhook, !isBroker {
      throw keys.contradiction("key 'ca-file' is for consumers with a webhook or a broker")
    }
    let form = try form(keys, of: consumer)
    switch given[0] {
    case "output":
      _ = try keys.choice("output", of: ["stdout"])
      var plan = OutputPlan()
      plan.form = form
      return plan
    case "exec", "exec-batch":
      let text = keys.string(given[0]) ?? ""
      guard text.contains(where: { !$0.isWhitespace }) else {
        throw keys.invalidValue(text, for: given[0], expected: "a command")
      }
      var plan = ExecPlan(ShellCommand(text: text), isBatch: given[0] == "exec-batch")
      plan.form = form
      if let limit = try keys.duration("timeout", in: .seconds(1) ... .seconds(86_400)) {
        plan.timeout = limit
      }
      if given[0] == "exec", keys.isGiven("batch"), keys.string("batch") != "1" {
        throw keys.contradiction(
          "key 'batch' needs exec-batch: exec runs a command for each message")
      }
      return plan
    case "mqtt":
      return try MQTTKeys.plan(keys, form, of: consumer) { try contents(of: $0, keys) }
    default: return try webhook(keys, form)
    }
  }

  private static func form(_ keys: ParsedArguments, of consumer: String) throws -> MessageForm {
    let word = try keys.choice("form", of: ["json", "cloudevents", "text"]) ?? "json"
    let template = try keys.string("template").map { text in
      do throws(MessageTemplate.Invalid) {
        let template = try MessageTemplate(text)
        if word == "json" { try template.checkJSON() }
        return template
      } catch {
        throw keys.invalidValue(
          text, for: "template", expected: "a template, but \(error.problem)")
      }
    }
    switch (word, template) {
    case ("text", let template?): return .text(template)
    case ("text", nil): throw keys.contradiction("form = text needs key 'template'")
    case ("cloudevents", nil): return .cloudEvents(source: MessageForm.source(of: consumer))
    case ("cloudevents", _?):
      throw keys.contradiction("form = cloudevents excludes key 'template'")
    default: return .json(template)
    }
  }

  private static func webhook(_ keys: ParsedArguments, _ form: MessageForm) throws -> WebhookPlan {
    let text = try keys.string("webhook") ?? line(of: "webhook-file", keys)
    var plan: WebhookPlan
    do throws(ReceiverURL.Invalid) {
      plan = WebhookPlan(try ReceiverURL(text))
    } catch {
      let key = keys.isGiven("webhook") ? "webhook" : "webhook-file"
      throw keys.invalidValue(
        keys.isGiven("webhook") ? "…" : keys.string(key) ?? "", for: key, expected: error.expected)
    }
    plan.form = form
    plan.isBatch = keys.isGiven("batch")
    plan.compresses = keys.flag("gzip")
    plan.trustsRedirects = keys.flag("allow-private")
    plan.mayUseProxy = Environment.namesProxy
    plan.certificateAuthorityFile = try authorities(keys)
    if let limit = try keys.duration("timeout", in: .milliseconds(100) ... .seconds(600)) {
      plan.timeout = limit
    }
    if let bytes = try contents(of: "secret-file", keys) {
      do throws(WebhookKey.Invalid) {
        plan.keys = try WebhookKey.read(bytes)
      } catch {
        let path = keys.string("secret-file") ?? ""
        throw keys.invalidValue(
          path, for: "secret-file", expected: "in line \(error.line) of it \(error.expected)")
      }
    }
    if let bytes = try contents(of: "header-file", keys) { plan.headers = try headers(bytes, keys) }
    return plan
  }

  private static func headers(
    _ bytes: [UInt8], _ keys: ParsedArguments
  ) throws(UsageError) -> [String] {
    do throws(HeaderFile.Invalid) {
      return try HeaderFile.read(bytes)
    } catch {
      throw keys.invalidValue(
        keys.string("header-file") ?? "", for: "header-file",
        expected: "in line \(error.line) of it \(error.expected)")
    }
  }

  /// The file with certificate authorities, which is read for each connection.
  static func authorities(_ keys: ParsedArguments) throws -> String? {
    guard let path = keys.string("ca-file") else { return nil }
    guard access(path, R_OK) == 0 else {
      let reason = String(cString: strerror(errno))
      throw keys.invalidValue(
        path, for: "ca-file", expected: "a file that can be read: \(reason)")
    }
    return path
  }

  private static func line(of key: String, _ keys: ParsedArguments) throws -> String {
    let bytes = try contents(of: key, keys) ?? []
    return String(decoding: bytes.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
  }

  /// The bytes of the file that a key names; nil if the key is not given.
  private static func contents(of key: String, _ keys: ParsedArguments) throws -> [UInt8]? {
    guard let path = keys.string(key) else { return nil }
    do throws(AtomicFile.SystemError) {
      if let bytes = try AtomicFile(path).read(atMost: 4096) { return bytes }
    } catch {
      throw keys.invalidValue(path, for: key, expected: "a file that can be read: \(error)")
    }
    throw keys.invalidValue(path, for: key, expected: "a file, but there is none of this name")
  }
}
