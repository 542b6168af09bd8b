import Testing

@testable import Postgres

@Suite struct BinaryValueTests {
  private func int32(_ value: Int32) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  private func textArray(_ bytes: [UInt8]) -> [String]? {
    bytes.withUnsafeBytes { BinaryValue($0).textArray }
  }

  @Test func aBinaryValueOfAnotherSizeThanItsTypeIsNull() {
    for size in 0...9 {
      let bytes = Array(([0x7F] + [UInt8](repeating: 0xFF, count: 8)).prefix(size))
      bytes.withUnsafeBytes { bytes in
        let value = BinaryValue(bytes)
        #expect((value.integer != nil) == [2, 4, 8].contains(size))
        #expect((value.double != nil) == (size == 8))
        #expect(value.textArray == nil)
        if size == 8 { #expect(value.timestamp == .max) }
      }
    }
  }

  @Test func aBinaryArrayThatIsCutShortIsNull() {
    func array(_ dimensions: Int32, _ count: Int32, _ elements: [UInt8]) -> [UInt8] {
      int32(dimensions) + int32(0) + int32(25) + int32(count) + int32(1) + elements
    }
    let element = int32(1) + [0x61]
    let malformed: [[UInt8]] = [
      array(1, -1, element), array(1, .max, element), array(1, 2, element),
      array(1, 1, int32(.max)), array(2, 1, element), Array(array(1, 1, element)[..<19]), [1],
    ]
    for bytes in malformed { #expect(textArray(bytes) == nil) }
    #expect(textArray(array(1, 1, element)) == ["a"])
    #expect(textArray(array(0, 0, [])) == [])
  }

  @Test func aBinaryCompositeThatIsCutShortHasNullFields() throws {
    let header = int32(1) + int32(25)
    let malformed: [[UInt8]] = [header + int32(.max), int32(1), header + int32(2) + [0x61]]
    for bytes in malformed {
      try bytes.withUnsafeBytes { bytes in
        var fields = try #require(CompositeFields(BinaryValue(bytes)))
        #expect(fields.next().isNull && fields.isCutShort)
      }
    }
  }
}
