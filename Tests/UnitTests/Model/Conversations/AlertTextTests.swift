import QuakeModel
import Testing

@testable import QuakeConsumers

@Suite struct AlertTextTests {
  private static let mandalay = EventRecord.event(
    "us7000pn9s", 7.7, place: "16 km NNW of Sagaing, Burma (Myanmar)"
  ).with {
    $0.time = Timestamp(iso8601: "2025-03-28T06:20:52.715Z")
    $0.latitude = 22.001
    $0.longitude = 95.925
  }

  private func alert(
    _ kind: Message.Kind, _ event: EventRecord?, told: EventRecord? = nil,
    mergedInto: String? = nil,
    isAfterRetraction: Bool = false
  ) throws -> Alert {
    Alert(
      kind: kind, conversation: "7.0000beef-3", number: told == nil ? 1 : 4, event: event,
      told: told.map { Alert.Told($0) }, token: try #require(ChangeToken("9.0000beef")),
      at: ConversationWorld.start, mergedInto: mergedInto, isAfterRetraction: isAfterRetraction)
  }

  @Test func theTextSaysWhatIsToldAndWhatWasToldBefore() throws {
    let event = Self.mandalay
    let old = event.with { $0.magnitude = 7.3 }
    let long =
      "16 km NNW of Sagaing, Burma (Myanmar), depth 10 km, 2025-03-28 06:20:52 UTC (us7000pn9s)"
    #expect(try alert(.opened, event).text == "M 7.7, \(long)")
    #expect(try alert(.updated, event, told: old).text == "M 7.7, was 7.3: \(long)")
    #expect(
      try alert(.updated, event, told: old, isAfterRetraction: true).text
        == "Valid again: M 7.7, was 7.3: \(long)")
    #expect(
      try alert(.retracted, nil, told: old).text == "Retracted: M 7.3, \(long): it was deleted")
    #expect(
      try alert(.retracted, event.with { $0.withdrawnAt = .now() }, told: event).text
        == "Retracted: M 7.7, \(long): it was withdrawn")
    #expect(
      try alert(.retracted, event.with { $0.magnitude = 4.1 }, told: event).text
        == "Retracted: M 7.7, \(long): it is M 4.1 now, and does not meet the conditions")
    #expect(
      try alert(.retracted, event.with { $0.type = "quarry blast" }, told: event).text
        == "Retracted: M 7.7, \(long): it is of the type quarry blast, and does not meet the conditions"
    )
    // A consumer of explosions retracts one because of its magnitude.
    let explosion = event.with { ($0.type, $0.magnitude) = ("explosion", 4.1) }
    #expect(
      try alert(.retracted, explosion, told: event).text == """
        Retracted: M 7.7, \(long): it is M 4.1 now, of the type explosion, and does not meet the conditions
        """)
    #expect(
      try alert(.retracted, .event("us2", 7), told: event, mergedInto: "1.0000beef-0").text
        == """
        Retracted: M 7.7, \(long): it is the same as M 7.0, somewhere, depth 10 km, \
        2026-01-01 00:00:00 UTC (us2), of which the messages go on
        """)
    #expect(
      try alert(.retracted, event, told: event, mergedInto: "1.0000beef-0").text == """
        Retracted: M 7.7, \(long): it is the same as an earthquake that was told before, of which the messages go on
        """)
    #expect(
      try alert(.closed, event, told: event).text == "Closed: M 7.7, \(long): nothing more is told")
  }

  @Test func anUpdateNamesEachDifference() throws {
    let told = Self.mandalay
    let event = told.with {
      $0.code = "emsc:1"
      $0.source = "emsc"
      $0.depth = 32.6
      $0.latitude = 22.5
      $0.place = "MYANMAR"
    }
    #expect(
      try alert(.updated, event, told: told).text
        == """
        M 7.7: MYANMAR, moved by 55 km, depth 32.6 km, was 10 km, 2025-03-28 06:20:52 UTC (emsc:1, \
        was us7000pn9s, by emsc, was by usgs)
        """)
    let unknown = told.with {
      $0.magnitude = nil
      $0.depth = nil
    }
    #expect(
      try alert(.updated, unknown, told: told).text.hasPrefix(
        "M unknown, was 7.7: 16 km NNW of Sagaing, Burma (Myanmar), depth unknown, was 10 km, "))
    #expect(try alert(.updated, told, told: unknown).text.hasPrefix("M 7.7, was unknown: "))
    let nowhere = told.with {
      $0.latitude = nil
      $0.longitude = nil
    }
    #expect(try alert(.updated, nowhere, told: told).text.contains(", epicentre unknown now, "))
    #expect(try alert(.updated, told, told: nowhere).text.contains(", epicentre known now, "))
    let unnamed = told.with { $0.place = nil }
    #expect(try alert(.opened, unnamed).text.hasPrefix("M 7.7, 22.0°N 95.93°E, depth 10 km, "))
    #expect(
      try alert(.opened, nowhere.with { $0.place = nil }).text.hasPrefix(
        "M 7.7, epicentre unknown, depth"))
    // Magnitudes that look the same with one decimal.
    let near = told.with { $0.magnitude = 7.68 }
    #expect(try alert(.updated, near, told: told).text.hasPrefix("M 7.68, was 7.7: "))
  }

  @Test func aTextIsOneLineAndIsNotCut() throws {
    let place = "a\nb\u{202E}c\u{7}" + String(repeating: "é", count: 20_000)
    let text = try alert(.opened, .event("us1", 5, place: place)).text
    #expect(text.contains("M 5.0, a b\u{FFFD}c\u{FFFD}ééé"))
    #expect(text.hasSuffix("(us1)") && text.utf8.count > 40_000)
  }

  @Test func aMessageHasWhatSinksNeed() throws {
    let told = Self.mandalay.with { $0.magnitude = 7.3 }
    let message = Message(
      try alert(.updated, Self.mandalay.with { $0.url = "https://e.org/x" }, told: told))
    #expect(message.id == "7.0000beef-3-4" && message.subject == "7.0000beef-3")
    #expect(message.kind == .updated && "\(message.token)" == "9.0000beef")
    let values = message.variables.map { "\($0.name)=\($0.value)" }
    #expect(
      values == [
        "QUAKE_TOKEN=9.0000beef", "QUAKE_ID=7.0000beef-3-4",
        "QUAKE_AT=2026-01-01T00:00:00.000Z", "QUAKE_ALERT=updated",
        "QUAKE_CONVERSATION=7.0000beef-3", "QUAKE_SUPERSEDES=7.0000beef-3-3",
        "QUAKE_CODE=us7000pn9s", "QUAKE_MAGNITUDE=7.7", "QUAKE_OLD_MAGNITUDE=7.3",
        "QUAKE_PLACE=16 km NNW of Sagaing, Burma (Myanmar)", "QUAKE_TIME=2025-03-28T06:20:52.715Z",
        "QUAKE_LATITUDE=22.001", "QUAKE_LONGITUDE=95.925", "QUAKE_DEPTH=10.0",
        "QUAKE_URL=https://e.org/x",
        """
        QUAKE_TEXT=M 7.7, was 7.3: 16 km NNW of Sagaing, Burma (Myanmar), depth 10 km, \
        2025-03-28 06:20:52 UTC (us7000pn9s)
        """,
      ])
    #expect(
      message.data.hasPrefix(
        """
        {"id":"7.0000beef-3-4","alert":"updated","conversation":"7.0000beef-3","number":4,\
        "supersedes":"7.0000beef-3-3","merged_into":null,"code":"us7000pn9s","token":"9.0000beef",\
        "at":"2026-01-01T00:00:00.000Z","text":"M 7.7, was 7.3: 16 km
        """))
    #expect(
      message.data.hasSuffix(
        """
        "told":{"code":"us7000pn9s","time":"2025-03-28T06:20:52.715Z","magnitude":7.3,"depth":10,\
        "latitude":22.001,"longitude":95.925,"place":"16 km NNW of Sagaing, Burma (Myanmar)","agency":"usgs"}}
        """))
    let first = Message(try alert(.retracted, nil, told: told))
    #expect(first.data.contains("\"event\":null"))
    #expect(first[variable: "QUAKE_CODE"] == "us7000pn9s")
  }
}
