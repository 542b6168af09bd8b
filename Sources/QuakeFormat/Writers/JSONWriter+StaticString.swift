internal import QuakeModel

extension JSONWriter {
  /// Writes a string that is known at compile time.
  mutating func string(utf8 text: StaticString) {
    text.withUTF8Buffer { string(utf8: UnsafeRawBufferPointer($0)) }
  }
}
