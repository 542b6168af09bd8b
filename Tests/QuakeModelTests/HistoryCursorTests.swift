import QuakeModel
import Testing

@Suite struct HistoryCursorTests {
  @Test(arguments: ["0", "1042.9f3ac2d1", "1042.9f3ac2d1 17", "1.00000000 9223372036854775807"])
  func aCursorIsWrittenAsItIsRead(text: String) throws {
    #expect(try #require(HistoryCursor(text)).description == text)
  }

  @Test func aCursorHasTheTokenAndTheNumberOfChanges() throws {
    let place = try #require(HistoryCursor("1042.9f3ac2d1 17"))
    #expect(place.token == ChangeToken("1042.9f3ac2d1"))
    #expect(place.changes == 17)
    #expect(HistoryCursor("1042.9f3ac2d1")?.changes == 0)
    #expect(HistoryCursor(token: place.token, changes: 17) == place)
  }

  @Test(arguments: [
    "", " ", "17", "1042.9f3ac2d1 ", " 1042.9f3ac2d1", "1042.9f3ac2d1 0", "1042.9f3ac2d1 -1",
    "1042.9f3ac2d1 +1", "1042.9f3ac2d1 01", "1042.9f3ac2d1 x", "1042.9f3ac2d1  1",
    "1042.9f3ac2d1 1 1", "1042.9f3ac2d1 9223372036854775808", "1042.9F3AC2D1 1", "00 1", "0 1",
  ])
  func otherTextIsNoCursor(text: String) {
    #expect(HistoryCursor(text) == nil)
  }
}
