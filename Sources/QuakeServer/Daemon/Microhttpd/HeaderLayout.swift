import CMicrohttpd
import Glibc

/// Where the parts of a header lie in the memory in which libmicrohttpd has received it.
///
/// Version 0.9 replaces the ends of the parts by zeros, and tells neither that a field went on in a second line, nor
/// that there was a zero within one, nor that a line ended without a carriage return. All leave other bytes between the
/// parts than the two zeros of an end. Later versions refuse such headers themselves: see `isNeeded`.
struct HeaderLayout {
  /// Whether the library leaves the check to us. Version 1 reads headers in another way, and is told to be strict.
  static let isNeeded = String(cString: MHD_get_version()).hasPrefix("0.")

  /// Where the next part begins, if nothing is in between.
  private var next: UnsafePointer<CChar>?

  /// Begins with the first line of a request: its parts follow each other with one blank in between.
  init(
    method: UnsafePointer<CChar>, target: UInt, targetLength: Int, version: UnsafePointer<CChar>
  ) {
    let line = UInt(bitPattern: method + strlen(method) + 1)
    let isWhole = line == target && UInt(bitPattern: version) == target + UInt(targetLength) + 1
    next = isWhole ? version + strlen(version) : nil
  }

  /// Adds the next field of the header.
  mutating func add(name: UnsafePointer<CChar>, value: UnsafePointer<CChar>) {
    guard let end = next else { return }
    next = nil
    guard name == end + 2, end[1] == 0 else { return }
    var begin = name + strlen(name) + 1
    while begin.pointee == 0x20 || begin.pointee == 0x09 { begin += 1 }
    if begin == value { next = value + strlen(value) }
  }

  /// Whether nothing but the empty line lies between the last part and the end of the header.
  func isWhole(endingAt end: UnsafePointer<CChar>) -> Bool {
    guard let next, end - next == 4 else { return false }
    return (0..<4).allSatisfy { next[$0] == 0 }
  }
}
