internal import QuakeModel

extension QuakeRecord {
  /// Calls `body` with each id of the event besides its code.
  func forEachOtherID(_ body: (UnsafeRawBufferPointer) -> Void) {
    withUTF8(.code) { code in
      guard let code else { return }
      withUTF8(.ids) { ids in
        // Most events have one id, with a comma on either side.
        guard let ids, ids.count != code.count + 2 else { return }
        for id in ids.split(separator: UInt8(ascii: ",")) where !id.elementsEqual(code) {
          body(UnsafeRawBufferPointer(rebasing: id))
        }
      }
    }
  }
}

extension UnsafeRawBufferPointer {
  /// A hash of an id. Two ids hardly ever have the same one; if they do, the import may be slower, but must be
  /// correct.
  var idKey: UInt64 {
    var hasher = Hasher()
    hasher.combine(bytes: self)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

extension String {
  /// The hash of its UTF-8.
  var idKey: UInt64 {
    var copy = self
    return copy.withUTF8 { UnsafeRawBufferPointer($0).idKey }
  }
}
