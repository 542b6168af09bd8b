import QuakeConsumers
import QuakeModel
import QuakeSinks
import TestSupport
import Testing

/// The text of messages.
@Suite struct MessageTemplateTests {
  private func text(_ template: String, _ message: Message) throws -> String {
    try MessageTemplate(template).text(message)
  }

  @Test func valuesTakeTheirPlaces() throws {
    let message = try Message.example()
    #expect(
      try text("{alert}: M {magnitude} {place}", message) == "opened: M 5.2 10 km N of Zürich")
    #expect(try text("{{{magnitude}}}a}}b{{c", message) == "{5.2}a}b{c")
    // A value that is missing is empty, and one with braces no template.
    #expect(try text("[{depth}]", message) == "[]")
    let odd = try Message.example(place: "{magnitude} {{")
    #expect(try text("{place}", odd) == "{magnitude} {{")
  }

  @Test(
    arguments: [
      ("{magnitud}", "did you mean \"{magnitude}\"?"), ("{}", "is no value"),
      ("{magnitude", "has no \"}\" after it"), ("a } b", "has no \"{\""), ("", "is empty"),
      (String(repeating: "x", count: MessageTemplate.longest + 1), "more than"),
    ])
  func whatIsWrongIsSaid(template: String, problem: String) throws {
    let error = #expect(throws: MessageTemplate.Invalid.self) { try MessageTemplate(template) }
    #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
  }

  @Test func aTemplateOfJSONMayHaveValuesInItsStringsAlone() throws {
    try MessageTemplate(#"{{"text": "{magnitude} {place}", "n": [1, "{code}"]}}"#).checkJSON()
    for template in [
      #"{{"text": {magnitude}}}"#, #"{{"text": "{magnitude}"}"#.replacing("}\"}", with: "}\"}}x"),
      #"{{"text": "\u00e{place}"}}"#, #"{{"text": "\{place}"}}"#, "{place}",
      #"{{"text": "{place}}}"#,
    ] {
      #expect(throws: MessageTemplate.Invalid.self) { try MessageTemplate(template).checkJSON() }
    }
  }

  @Test func namesOfValuesHaveAllThatAMergedConversationHas() throws {
    let token = try #require(ChangeToken("9.0000beef"))
    let alert = Alert(
      kind: .retracted, conversation: "7.0000beef-3", number: 2, event: nil,
      told: Alert.Told(code: "us1"), token: token, at: .latest, mergedInto: "7.0000beef-1")
    let known = Set(MessageVariable.names.map(MessageVariable.variable))
    #expect(Set(Message(alert).variables.map(\.name)).subtracting(known) == [])
  }
}

/// Keys and addresses as they are written in files.
@Suite struct WebhookSettingTests {
  @Test(
    arguments: [
      ("", 0), ("AAAA", 1), ("whsec_AAAA", 1),
      ("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz\nwhsec_!!!!", 2),
      ("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz===", 1),
    ])
  func aFileOfOtherThingsIsRefused(text: String, line: Int) {
    let error = #expect(throws: WebhookKey.Invalid.self) { try WebhookKey.read(Array(text.utf8)) }
    #expect(error?.line == line)
    #expect(error?.expected.contains("MDEy") == false)
  }

  @Test func aFileHasOneOrTwoKeys() throws {
    let key = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNA"
    #expect(try WebhookKey.read(Array("\(key)==\n".utf8)).count == 1)
    #expect(
      try WebhookKey.read(Array("\(key)==".utf8)) == WebhookKey.read(Array("\n\(key)\n".utf8)))
    #expect(try WebhookKey.read(Array("\(key)\n\(key)==\n".utf8)).count == 2)
    #expect(throws: WebhookKey.Invalid.self) {
      try WebhookKey.read(Array("\(key)\n\(key)\n\(key)\n".utf8))
    }
  }

  @Test func aKeyIsNeverWritten() throws {
    let keys = try WebhookKey.read(Array("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz".utf8))
    #expect("\(keys)" == "[***]")
  }

  @Test func anAddressIsShownWithoutWhatOnlyItsOwnerKnows() throws {
    for (text, shown) in [
      ("https://hooks.example.org/services/T0/B0/abcdefgh", "https://hooks.example.org/***"),
      ("HTTP://user:password@[::1]:8080/", "http://[::1]:8080"),
      ("https://example.org?token=abc", "https://example.org/***"),
      ("http://127.0.0.1:80", "http://127.0.0.1:80"),
    ] {
      #expect(try ReceiverURL(text).shown == shown)
    }
    for text in [
      "", "ftp://example.org", "https://", "https://a b",
      "https:/example.org/x://secret/", "https:///example.org/",
    ] {
      #expect(throws: ReceiverURL.Invalid.self) { try ReceiverURL(text) }
    }
  }
}
