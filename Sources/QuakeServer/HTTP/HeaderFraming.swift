import CMicrohttpd
import Glibc

/// What makes it unclear where a request ends or for whom it is.
///
/// A proxy in front of the server may read such a request in another way, and take a part of it for a request of
/// somebody else. So it is refused, and its connection closed.
enum HeaderFraming {
  /// What is wrong with the method of a request; nil: nothing.
  static func problem(ofMethod method: String) -> String? {
    isToken(method) ? nil : "The method has a character that no method may have."
  }

  /// What is wrong with the fields after a body in chunks; nil: nothing.
  static func problem(ofTrailer trailer: HeaderFields) -> String? {
    if let problem = problem(ofFields: trailer) { return problem }
    let name = ["content-length", "host", "transfer-encoding"].first { trailer[$0] != nil }
    return name.map { "The field \($0) must come before the body." }
  }

  /// What is wrong with the fields of a header; nil: nothing.
  ///
  /// - Parameter isOld: Whether the request is of HTTP/1.0, which needs no `Host` and has no `Transfer-Encoding`.
  static func problem(of headers: HeaderFields, isOld: Bool) -> String? {
    if let problem = problem(ofFields: headers) { return problem }
    let hosts = headers.count("host")
    guard hosts < 2 else { return "The header Host must be given once." }
    guard isOld || hosts == 1 else { return "The header Host is missing." }
    let lengths = headers.count("content-length")
    guard lengths < 2 else { return "The header Content-Length must be given once." }
    let codings = headers.count("transfer-encoding")
    guard codings > 0 else { return nil }
    guard !isOld else { return "A request of HTTP/1.0 cannot have the header Transfer-Encoding." }
    guard lengths == 0 else {
      return "The headers Content-Length and Transfer-Encoding contradict each other."
    }
    guard codings == 1, headers["transfer-encoding"]?.lowercased() == "chunked" else {
      return "The only Transfer-Encoding that the server reads is chunked."
    }
    return nil
  }

  private static func problem(ofFields headers: HeaderFields) -> String? {
    for field in headers.fields {
      guard isToken(field.name) else {
        return "The name of a header field has a blank or another character that no name may have."
      }
      guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        return "The header field \(field.name) has a control character."
      }
    }
    return nil
  }

  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy(isTokenCharacter)
  }

  /// Whether a method or the name of a header field may have a character (RFC 9110, section 5.6.2).
  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}

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
