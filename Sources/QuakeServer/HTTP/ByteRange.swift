/// The range of a body that a client asks for (RFC 9110, section 14).
enum ByteRange: Equatable {
  /// No range that this server knows: the whole body is the answer.
  case whole
  case part(Range<Int>)
  /// The body has no such part.
  case unsatisfiable

  /// Reads a value of `Range` for a body of `size` bytes. Of several ranges none is taken: a server may answer
  /// with the whole body.
  init(_ text: String?, size: Int) {
    self = .whole
    guard let text, text.hasPrefix("bytes=") else { return }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, !text.contains(",") else { return }
    let first = ends[0].filter { $0 != " " }
    let last = ends[1].filter { $0 != " " }
    func number(_ digits: String) -> Int? {
      guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        return nil
      }
      return Int(digits) ?? .max
    }
    if first.isEmpty {
      // The last bytes.
      guard let count = number(last) else { return }
      self = count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
      return
    }
    guard let start = number(first) else { return }
    if last.isEmpty {
      self = start < size ? .part(start..<size) : .unsatisfiable
      return
    }
    guard let end = number(last), end >= start else { return }
    self = start < size ? .part(start..<min(size, end == .max ? size : end + 1)) : .unsatisfiable
  }
}
