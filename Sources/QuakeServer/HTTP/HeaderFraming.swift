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
