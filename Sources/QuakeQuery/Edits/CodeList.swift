/// Codes of events in one buffer: a million of them take some ten megabytes.
struct CodeList {
  private var bytes: [UInt8] = []
  private var position = 0
  /// The number of codes.
  private(set) var count: Int64 = 0
  /// The number of codes that `next` has not returned.
  private(set) var left: Int64 = 0

  mutating func append(_ code: String) {
    append(contentsOf: code.utf8)
  }

  mutating func append(contentsOf code: some Collection<UInt8>) {
    // The table limits codes to 256 characters.
    precondition(code.count <= Int(UInt16.max))
    bytes.append(UInt8(code.count >> 8))
    bytes.append(UInt8(code.count & 0xFF))
    bytes.append(contentsOf: code)
    count += 1
    left += 1
  }

  /// The next codes, at most that many; empty at the end.
  mutating func next(_ most: Int) -> [String] {
    var codes: [String] = []
    while codes.count < most, position < bytes.count {
      let length = Int(bytes[position]) << 8 | Int(bytes[position + 1])
      position += 2
      codes.append(String(decoding: bytes[position..<position + length], as: UTF8.self))
      position += length
    }
    left -= Int64(codes.count)
    return codes
  }
}
