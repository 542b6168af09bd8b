import Testing

@testable import QuakeServer

@Suite struct ByteRangeTests {
  @Test(arguments: [
    ("bytes=0-9", 0..<10), ("bytes=90-", 90..<100), ("bytes=-10", 90..<100),
    ("bytes=-1000", 0..<100), ("bytes=50-1000", 50..<100),
    ("bytes=99-99999999999999999999", 99..<100),
  ])
  func aPartOfTheBody(text: String, range: Range<Int>) {
    #expect(ByteRange(text, size: 100) == .part(range))
  }

  @Test(arguments: ["bytes=100-", "bytes=200-300", "bytes=-0"])
  func aRangeBeyondTheBodyCannotBeSatisfied(text: String) {
    #expect(ByteRange(text, size: 100) == .unsatisfiable)
  }

  @Test(arguments: [
    nil, "", "bytes=", "bytes=5", "bytes=9-5", "items=0-9", "bytes=0-1,5-6", "bytes=a-b",
  ])
  func whatIsNoRangeMeansAllOfIt(text: String?) {
    #expect(ByteRange(text, size: 100) == .whole)
  }
}
