/// The status and the header fields of an answer that matter here.
struct ResponseHead {
  private(set) var status = 0
  private(set) var contentType = ""
  private(set) var location = ""
  /// How long the server asks to wait.
  private(set) var retryAfter: Duration?
  /// Whether the body comes next.
  private(set) var isComplete = false

  /// The longest time to wait for which a server can ask.
  private static let longestPause: Int64 = 300

  /// Takes in a line of the head. A status line begins a new head, after one of a proxy or of status 100.
  mutating func take(_ bytes: UnsafeRawBufferPointer) {
    var line = bytes[...]
    while let last = line.last, last == 0x0D || last == 0x0A || last == 0x20 { line.removeLast() }
    let text = String(decoding: line, as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      self = ResponseHead()
      status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      return
    }
    if text.isEmpty {
      isComplete = status >= 200
      return
    }
    guard let colon = text.firstIndex(of: ":") else { return }
    let value = String(text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
    switch text[..<colon].lowercased() {
    case "content-type": contentType = value.prefix { $0 != ";" && $0 != " " }.lowercased()
    case "location": location = value
    case "retry-after":
      // It may also be a date; then the usual pause applies.
      if let seconds = Int64(value), seconds >= 0 {
        retryAfter = .seconds(min(seconds, Self.longestPause))
      }
    default: break
    }
  }
}
