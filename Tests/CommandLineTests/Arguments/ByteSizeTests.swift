import Testing

@testable import CommandLine

@Suite struct ByteSizeTests {
  @Test(arguments: [
    ("0", 0), ("4096", 4096), ("7B", 7), ("2KiB", 2048), ("500MiB", 500 << 20), ("2GiB", 2 << 30),
    ("1tib", 1 << 40),
  ])
  func aSizeIsReadWithItsUnit(text: String, bytes: Int) {
    #expect(ByteSize.bytes(text) == bytes)
  }

  @Test(arguments: ["", "MiB", "-1", "+1", "1.5GiB", "1 MiB", "1MB", "1kiB2", "9999999TiB", "٣"])
  func anyOtherTextIsNoSize(text: String) {
    #expect(ByteSize.bytes(text) == nil)
  }

  @Test(arguments: [1, 1000, 1024, 256 << 20, 16 << 30, (1 << 30) + 1])
  func aSizeIsWrittenAsItIsRead(bytes: Int) {
    #expect(ByteSize.bytes(ByteSize.text(bytes)) == bytes)
  }
}
