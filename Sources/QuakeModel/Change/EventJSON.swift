internal import Basics

extension JSONWriter {
  /// Events with more bytes of text are written member by member, so that the buffer can be drained in
  /// between.
  static let longTexts = 8 * 1024

  /// Writes an event at once: one check of the buffer's size, and keys that are ready to be copied.
  mutating func event(_ record: QuakeRecord) {
    beginValue()
    let keys = EncodedKey.all
    write(atMost: EncodedKey.capacity(textSize: record.textSize)) { place in
      record.withContents { values, present, bytes in
        var end = place
        keys.withUnsafeBufferPointer { keys in
          for index in keys.indices {
            keys[index].put(&end)
            if present & 1 << UInt64(index) == 0 {
              putNull(&end)
            } else {
              putValue(values[index], keys[index].kind, bytes, &end)
            }
          }
        }
        put(0x7D, &end)
        return end
      }
    }
  }
}

/// The key of a column in JSON, with the comma before it and the colon after it.
private struct EncodedKey {
  /// The text, padded; copying three words is quicker than copying a number of bytes.
  private let words: (UInt64, UInt64, UInt64)
  private let length: Int
  let kind: QuakeColumn.Kind

  static let all = QuakeColumn.allCases.map { EncodedKey($0) }
  private static let size = 24
  /// The most bytes of a value that is not text, with what a text needs beside its bytes.
  private static let valueSize = max(DecimalText.longest, Timestamp.longestText) + 16

  /// The most bytes of an event with texts of this size.
  static func capacity(textSize: Int) -> Int {
    QuakeColumn.allCases.count * (size + valueSize) + EscapedText.capacity(for: textSize)
  }

  private init(_ column: QuakeColumn) {
    // The first one begins the object.
    var text = Array("\(column.rawValue == 0 ? "{" : ",")\"\(column.name)\":".utf8)
    length = text.count
    precondition(length <= Self.size, "the name of column \(column.name) is too long")
    text += Array(repeating: 0, count: Self.size - length)
    func word(_ index: Int) -> UInt64 {
      text.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) }
    }
    words = (word(0), word(1), word(2))
    kind = column.kind
  }

  @inline(__always)
  func put(_ end: inout UnsafeMutablePointer<UInt8>) {
    let place = UnsafeMutableRawPointer(end)
    place.storeBytes(of: words.0, as: UInt64.self)
    place.storeBytes(of: words.1, toByteOffset: 8, as: UInt64.self)
    place.storeBytes(of: words.2, toByteOffset: 16, as: UInt64.self)
    end += length
  }
}

@inline(__always)
private func putNull(_ end: inout UnsafeMutablePointer<UInt8>) {
  // The bytes of "null".
  UnsafeMutableRawPointer(end).storeBytes(of: UInt32(littleEndian: 0x6C6C_756E), as: UInt32.self)
  end += 4
}

/// Writes the value of a column from its word in a record.
@inline(__always)
private func putValue(
  _ value: UInt64, _ kind: QuakeColumn.Kind, _ bytes: UnsafeRawBufferPointer,
  _ end: inout UnsafeMutablePointer<UInt8>
) {
  switch kind {
  case .text:
    put(0x22, &end)
    let start = Int(value >> 32)
    EscapedText.put(
      UnsafeRawBufferPointer(rebasing: bytes[start..<(start + Int(value & 0xFFFF_FFFF))]), &end)
    put(0x22, &end)
  case .float8:
    let number = Double(bitPattern: value)
    if number.isFinite { end = DecimalText.put(number, end) } else { putNull(&end) }
  case .int4, .int2:
    end = DecimalText.put(Int(Int64(bitPattern: value)), end)
  case .timestamp:
    put(0x22, &end)
    end = Timestamp(microseconds: Int64(bitPattern: value)).put(end)
    put(0x22, &end)
  case .bool:
    for byte in (value != 0 ? "true" : "false").utf8 { put(byte, &end) }
  }
}
