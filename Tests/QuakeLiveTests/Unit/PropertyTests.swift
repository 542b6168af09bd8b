import Foundation
import QuakeFeed
import QuakeModel
import QuakeQuery
import QuakeStore
import Testing

@Suite struct PropertyTests {
  @Test func everyColumnOfAnEventCanBeSetAndRemoved() {
    var quake = EventRecord()
    #expect(quake.id.isEmpty && quake.magnitude == nil && quake.ids == nil)
    let time = Timestamp(iso8601: "2026-11-22T10:11:12.5Z")
    quake.code = "us7000pn9s"
    quake.magnitude = 6.1
    quake.time = time
    quake.felt = 12
    quake.hasTsunamiFlag = true
    quake.isValidated = false
    quake.ids = ["us7000pn9s", "ci40000001"]
    #expect(quake.id == "us7000pn9s" && quake.text(.code) == "us7000pn9s")
    #expect(quake.double(.magnitude) == 6.1 && quake.timestamp(.time) == time)
    #expect(quake.integer(.felt) == 12 && quake.integer(.tsunami) == 1)
    #expect(quake.bool(.validated) == false)
    #expect(quake.text(.ids) == ",us7000pn9s,ci40000001,")
    #expect(quake.ids == ["us7000pn9s", "ci40000001"])
    quake.magnitude = nil
    quake.ids = nil
    quake.hasTsunamiFlag = nil
    #expect(!quake.has(.magnitude) && !quake.has(.ids) && !quake.has(.tsunami))
  }

  @Test func valuesAreCodableByTheirTextsAndTheNamesOfTheirColumns() throws {
    func copy<Value: Codable>(_ value: Value) throws -> Value {
      try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }
    var event = EventRecord()
    event.code = "us7000pn9s"
    event.magnitude = 6.1
    event.time = Timestamp(iso8601: "2026-11-22T10:11:12.123456Z")
    event.felt = 12
    event.hasTsunamiFlag = true
    event.isValidated = false
    #expect(try copy(event) == event && copy(EventRecord()) == EventRecord())
    let json = try JSONDecoder().decode(
      EventRecord.self, from: Data(#"{"code":"us1","magnitude":null,"tsunami":1,"more":[]}"#.utf8))
    #expect(json.code == "us1" && json.magnitude == nil && json.hasTsunamiFlag == true)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(EventRecord.self, from: Data(#"{"place":"\u0000"}"#.utf8))
    }
    let cursor = try #require(HistoryCursor("1042.9f3ac2d1 17"))
    #expect(try copy([cursor]) == [cursor] && copy([cursor.token]) == [cursor.token])
    #expect(try copy([EventOrder.greatestFirst]) == [.greatestFirst])
    let place = EventCursor(of: event, in: [.greatestFirst])
    #expect(try copy([place]) == [place])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([ChangeToken].self, from: Data(#"["1042"]"#.utf8))
    }
  }

  @Test func conditionsReadLikeSwift() throws {
    var event = EventRecord()
    event.magnitude = 6
    event.type = "Earthquake"
    let time = Timestamp(microseconds: 1_000_000)
    event.time = time
    let later = Timestamp(microseconds: 1_000_001)
    #expect(EventFilter(where: .magnitude >= 6, .time < later, .time >= time).accepts(event))
    #expect(EventFilter(where: .type == "earthquake" && .magnitude <= 6).accepts(event))
    #expect(EventFilter(where: .depth <= 70 || .magnitude >= 6).accepts(event))
    #expect(!EventFilter(where: .magnitude >= 6, .time < time).accepts(event))
    #expect(!EventFilter(where: .depth <= 70 && .magnitude >= 6).accepts(event))
  }

  @Test func errorsHaveTheDescriptionsOfFoundation() throws {
    let error = #expect(throws: FeedError.self) { try FeedReference("all_huor") }
    let foundation: any LocalizedError = try #require(error)
    #expect(foundation.errorDescription == error?.message)
    #expect(foundation.failureReason == error?.detail && error?.detail != nil)
    #expect(foundation.recoverySuggestion == error?.hint && error?.hint != nil)
    #expect(error?.localizedDescription == error?.message)
  }
}
