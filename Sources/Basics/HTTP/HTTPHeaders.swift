/// The headers of one HTTP response, line by line.
package struct HTTPHeaders {
  package private(set) var status = 0
  /// Whether all headers of the final response have arrived, which is neither an interim response nor a
  /// followed redirect.
  package private(set) var isComplete = false
  private var values: [String: String] = [:]
  private let followsRedirects: Bool

  /// The most bytes of a header line; longer lines are ignored, because no relevant one is as long.
  private static let longestLine = 8192

  package init(followsRedirects: Bool = true) {
    self.followsRedirects = followsRedirects
  }

  /// Adds one line from libcurl, with its line break. A status line begins anew, after the headers of an interim
  /// response or a redirect.
  package mutating func add(line bytes: UnsafeRawBufferPointer) {
    let line = String(decoding: bytes, as: UTF8.self)
    let text = Self.trim(Substring(line))
    if text.isEmpty {
      let isInterim = (100..<200).contains(status)
      let isRedirect =
        followsRedirects && [301, 302, 303, 307, 308].contains(status) && values["location"] != nil
      isComplete = !isInterim && !isRedirect
    } else if text.hasPrefix("HTTP/") {
      status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      values.removeAll()
      isComplete = false
    } else if bytes.count <= Self.longestLine || text.lowercased().hasPrefix("location:"),
      let colon = text.firstIndex(of: ":"), values.count < 128
    {
      let value = Self.trim(text[text.index(after: colon)...])
      values[text[..<colon].lowercased()] = String(value)
    }
  }

  /// The text without spaces and line breaks at its ends.
  package static func trim(_ text: Substring) -> Substring {
    func isSpace(_ character: Character) -> Bool {
      character == " " || character == "\t" || character.isNewline
    }
    var text = text.drop(while: isSpace)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return text
  }

  /// A header's value; `name` in lower case.
  package func value(_ name: String) -> String? { values[name] }
}
