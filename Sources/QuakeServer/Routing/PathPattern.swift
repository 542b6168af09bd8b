/// The path of a route, divided into its segments.
struct PathPattern: Sendable {
  private enum Segment: Sendable {
    case literal(String)
    case placeholder(name: String, prefix: String, suffix: String)
  }

  private let segments: [Segment]
  /// How many segments are literals: of two matching routes, the one with more literals is chosen.
  let literals: Int

  init(_ path: String) {
    segments = Self.segments(of: path).map { text in
      guard let start = text.firstIndex(of: "{"), let end = text.firstIndex(of: "}") else {
        return .literal(text)
      }
      return .placeholder(
        name: String(text[text.index(after: start)..<end]), prefix: String(text[..<start]),
        suffix: String(text[text.index(after: end)...]))
    }
    literals = segments.count { if case .literal = $0 { true } else { false } }
  }

  /// The parts of a route's path between its slashes.
  static func segments(of path: String) -> [String] {
    path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
  }

  /// The values of the placeholders in the segments of a path; nil if the path does not match.
  func match(_ parts: [String]) -> [String: String]? {
    guard parts.count == segments.count else { return nil }
    var values: [String: String] = [:]
    for (segment, part) in zip(segments, parts) {
      switch segment {
      case .literal(let text):
        guard part == text else { return nil }
      case .placeholder(let name, let prefix, let suffix):
        let bytes = part.utf8
        guard bytes.count > prefix.utf8.count + suffix.utf8.count,
          bytes.starts(with: prefix.utf8),
          bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        else { return nil }
        values[name] = String(
          Substring(bytes.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)))
      }
    }
    return values
  }
}
