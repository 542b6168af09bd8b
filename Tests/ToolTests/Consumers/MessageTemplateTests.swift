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
    #expect(try text("no value", message) == "no value")
    #expect(try text("{{{magnitude}}}", message) == "{5.2}")
    #expect(try text("a}}b{{c", message) == "a}b{c")
  }

  @Test func aMissingValueIsEmpty() throws {
    #expect(try text("[{depth}]", try .example()) == "[]")
  }

  @Test func aValueIsNoTemplate() throws {
    let message = try Message.example(place: "{magnitude} {{")
    #expect(try text("{place}", message) == "{magnitude} {{")
  }

  @Test(
    arguments: [
      ("{magnitud}", "did you mean \"{magnitude}\"?"), ("{QUAKE_PLACE}", "is no value"),
      ("{}", "is no value"), ("{magnitude", "has no \"}\" after it"), ("a } b", "has no \"{\""),
      ("{a{b}", "has no \"}\" after it"), ("", "is empty"),
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
}

/// The names of the values.
@Suite struct MessageVariableTests {
  @Test func theyAreThoseOfTheEnvironment() {
    #expect(MessageVariable.variable("old_magnitude") == "QUAKE_OLD_MAGNITUDE")
    #expect(Set(MessageVariable.names).count == MessageVariable.names.count)
  }

  @Test func theyHaveAllThatAMergedConversationHas() throws {
    let token = try #require(ChangeToken("9.0000beef"))
    let alert = Alert(
      kind: .retracted, conversation: "7.0000beef-3", number: 2, event: nil,
      told: Alert.Told(code: "us1"), token: token, at: .latest, mergedInto: "7.0000beef-1")
    let known = Set(MessageVariable.names.map(MessageVariable.variable))
    #expect(Set(Message(alert).variables.map(\.name)).subtracting(known) == [])
  }
}
