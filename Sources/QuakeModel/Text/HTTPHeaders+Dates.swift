package import Basics

extension HTTPHeaders {
  /// A header's value as an instant.
  package func date(_ name: String) -> Timestamp? { value(name).flatMap(HTTPDate.time) }

  /// The seconds of `Retry-After`, if any.
  package func retryAfter(now: Timestamp) -> Int? {
    guard let text = value("retry-after") else { return nil }
    if let seconds = Int(text) { return max(0, seconds) }
    guard let instant = HTTPDate.time(text) else { return nil }
    let reference = date("date") ?? now
    // Rounded up, because a request must not be early.
    return max(0, Int((instant.microseconds - reference.microseconds + 999_999) / 1_000_000))
  }
}
