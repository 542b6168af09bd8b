import Foundation
import QuakeModel
import TestSupport
import Testing

@Suite struct JSONWriterTests {
  private func written(_ body: (inout JSONWriter) -> Void) -> String {
    var json = JSONWriter()
    body(&json)
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private func parsed(_ text: String) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(text.utf8), options: [.fragmentsAllowed])
  }

  @Test func theWriterPutsCommasBetweenMembersAndElementsAndNowhereElse() {
    let text = written { json in
      json.object { object in
        object.null("a")
        object.array("b") { array in
          array.integer(1)
          array.object { _ in }
          array.array { _ in }
          array.bool(false)
        }
        object.key(dynamic: "c\"")
        object.object { inner in
          inner.member("d", true)
        }
        object.member("e", String?.none)
      }
      json.newline()
      json.array { _ in }
    }
    #expect(text == "{\"a\":null,\"b\":[1,{},[],false],\"c\\\"\":{\"d\":true},\"e\":null}\n[]")
  }

  @Test func theWriterEscapesQuotesBackslashesAndControlCharactersOnly() {
    #expect(
      written { $0.string("a\"b\\c/\n\r\t\u{8}\u{c}\0\u{1f}\u{7f}é\u{2028}🌋") }
        == #""a\"b\\c/\n\r\t\u0008\u000c\u0000\u001f"# + #"\u007fé\u2028🌋""#)
    #expect(written { $0.string("") } == "\"\"")
    #expect(written { $0.string("\"") } == "\"\\\"\"")
    #expect(written { $0.string(utf8: UnsafeRawBufferPointer(start: nil, count: 0)) } == "\"\"")
  }

  @Test(arguments: [
    (0.0, "0"), (-0.0, "0"), (1.0, "1"), (-7.0, "-7"), (4.56, "4.56"), (-0.4, "-0.4"),
    (0.1, "0.1"), (999_999_999_999_999.0, "999999999999999"), (1e-7, "1e-07"),
    (1e300, "1e+300"), (.leastNonzeroMagnitude, "5e-324"), (.infinity, "null"),
    (-.infinity, "null"), (.nan, "null"),
  ])
  func theWriterWritesNumbersInAsFewDigitsAsTheyNeed(value: Double, expected: String) {
    #expect(written { $0.double(value) } == expected)
  }

  /// As the standard library writes it, where that is plain digits.
  @Test func theWriterWritesEveryDoubleWithTheFewestDigitsThatParseToIt() {
    var generator = SeededGenerator(20)
    for _ in 0..<500 {
      let decimals = Int.random(in: 0...9, using: &generator)
      var power = 1.0
      for _ in 0..<decimals { power *= 10 }
      let whole = Double(Int.random(in: -2_000_000...2_000_000, using: &generator))
      let near = whole / power
      for value in [
        near, near.nextUp, near.nextDown, near + 0.1,
        Double.random(in: -200...200, using: &generator),
      ] {
        var json = JSONWriter()
        json.double(value)
        let text = String(decoding: json.bytes, as: UTF8.self)
        let plain = value.description
        #expect(text == (plain.hasSuffix(".0") ? String(plain.dropLast(2)) : plain) || value == 0)
      }
    }
  }
}
