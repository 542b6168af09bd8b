import QuakeModel
import TestSupport
import Testing

@Suite struct ChangeTokenTests {
  @Test(arguments: [
    "0", "1.00000000", "1.00000001", "1042.9f3ac2d1", "9.ffffffff", "9.12345678",
    "9223372036854775806.0abcdef0",
  ])
  func aTokenIsWrittenAsItIsRead(text: String) throws {
    #expect(try #require(ChangeToken(text)).description == text)
  }

  @Test func aTokenOfRandomPartsIsWrittenInTheFormThatIsRead() throws {
    var generator = SeededGenerator(3)
    for _ in 0..<200 {
      let number = Int64.random(in: 1 ... .max, using: &generator)
      let digits = String(UInt32.random(in: 0 ... .max, using: &generator), radix: 16)
      let nonce = String(repeating: "0", count: 8 - digits.count) + digits
      let token = try #require(ChangeToken(number: number, nonce: nonce))
      #expect(token.number == number)
      #expect(token.description == "\(number).\(nonce)")
      #expect(ChangeToken(token.description) == token)
    }
  }

  @Test(arguments: [
    "", " ", ".", "0.", "00", "1", "1.", "-1", "0.00000000", "01.9f3ac2d1", "+1.9f3ac2d1",
    "1.9f3ac2d1 ", "1.9F3AC2D1", "1.9f3ac2d", "1.9f3ac2d10", "1.+f3ac2d1", "1..9f3ac2d1",
    "1e3.9f3ac2d1", ".9f3ac2d1", "9223372036854775808.9f3ac2d1", "١.9f3ac2d1", "1.9f3ac2d١",
    "0\0", "1\n.9f3ac2d1", "1.9f3ac2d1\u{301}", "1.9f3ac2d1\u{200B}",
  ])
  func otherTextIsNoToken(text: String) {
    #expect(ChangeToken(text) == nil)
  }

  @Test(arguments: ["0", "1042.9f3ac2d1", "1042.9f3ac2d1 17", "1.00000000 9223372036854775807"])
  func aCursorIsWrittenAsItIsRead(text: String) throws {
    #expect(try #require(HistoryCursor(text)).description == text)
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
