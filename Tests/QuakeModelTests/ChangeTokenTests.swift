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
    for _ in 0..<1_000 {
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
    "", " ", ".", "0.", "00", "1", "1.", "-1", "-0", "+0", "0.00000000", "0.9f3ac2d1",
    "01.9f3ac2d1", "+1.9f3ac2d1", "-1.9f3ac2d1", " 1.9f3ac2d1", "1.9f3ac2d1 ", "1 .9f3ac2d1",
    "1.9F3AC2D1", "1.9f3ac2d", "1.9f3ac2d10", "1.9f3ac2dg", "1.+f3ac2d1", "1.-f3ac2d1",
    "1..9f3ac2d1", "1.9f3a.2d1", "1,9f3ac2d1", "1e3.9f3ac2d1", "0x1.9f3ac2d1", "1_0.9f3ac2d1",
    ".9f3ac2d1", "9223372036854775808.9f3ac2d1", "١.9f3ac2d1", "1.9f3ac2d١", "null",
  ])
  func otherTextIsNoToken(text: String) {
    #expect(ChangeToken(text) == nil)
  }

  @Test func aTokenHasNoInvisibleCharacters() {
    for extra in ["\0", "\n", "\u{301}", "\u{200B}"] {
      #expect(ChangeToken("1.9f3ac2d1" + extra) == nil)
      #expect(ChangeToken("1" + extra + ".9f3ac2d1") == nil)
      #expect(ChangeToken("0" + extra) == nil)
    }
  }

  @Test func aTokenHasANumberFrom1AndANonceOfEightDigits() {
    #expect(ChangeToken(number: 0, nonce: "9f3ac2d1") == nil)
    #expect(ChangeToken(number: -1, nonce: "9f3ac2d1") == nil)
    #expect(ChangeToken(number: 1, nonce: "") == nil)
    #expect(ChangeToken(number: 1, nonce: "9F3AC2D1") == nil)
    #expect(ChangeToken(number: 1, nonce: "9f3ac2d1")?.description == "1.9f3ac2d1")
  }

  @Test func aTokenIsEqualOnlyWithTheSameNumberAndTheSameNonce() {
    #expect(ChangeToken("1.9f3ac2d1") == ChangeToken("1.9f3ac2d1"))
    #expect(ChangeToken("1.9f3ac2d1") != ChangeToken("1.9f3ac2d2"))
    #expect(ChangeToken("1.9f3ac2d1") != ChangeToken("2.9f3ac2d1"))
    #expect(ChangeToken("0") == .beginning)
    #expect(ChangeToken.beginning.number == 0)
  }
}
