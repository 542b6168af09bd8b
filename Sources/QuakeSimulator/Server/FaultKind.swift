/// A kind of fault of the feed.
public enum FaultKind: String, CaseIterable, Sendable {
  /// A body generated 20 hours ago.
  case stale
  /// Status 200 and a body of no bytes.
  case empty
  /// A well-formed body without an event.
  case noEvents = "no-events"
  /// A body cut in the middle, with a matching Content-Length, so that HTTP does not reveal it.
  case truncated
  /// A connection closed before all of the announced length was sent.
  case short
  /// A compressed body cut in the middle, with the length of what is sent; like `truncated` for a
  /// client that does not accept gzip.
  case truncatedGzip = "truncated-gzip"
  /// A page for people, with status 200.
  case html
  /// Times and updates in 1970, as on 7 October 2024.
  case garbageTimes = "garbage-times"
  /// Not found.
  case notFound = "404"
  /// Too many requests, with `Retry-After`.
  case tooManyRequests = "429"
  /// Service unavailable, with `Retry-After`.
  case unavailable = "503"
  /// A part of the body and then nothing, until the client leaves or the server stops.
  case stall
  /// Places with a byte that is not UTF-8.
  case invalidUTF8 = "invalid-utf8"
  /// Every second event is missing.
  case half
}

/// A recurring fault.
public struct ScheduledFault: Sendable, Equatable {
  /// The kind of fault.
  public var kind: FaultKind
  /// The number of answers for each faulty one: 1 (always) or more.
  public var every: Int

  /// `kind` goes wrong at each answer whose number is a multiple of `every` (1 or more).
  public init(_ kind: FaultKind, every: Int) {
    precondition(every >= 1)
    self.kind = kind
    self.every = every
  }

  /// Reads `KIND` (always) or `KIND:N` (every Nth answer); nil if it is anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, let kind = FaultKind(rawValue: String(parts[0])) else { return nil }
    let every = parts.count == 2 ? Int(parts[1]) : 1
    guard let every, every >= 1 else { return nil }
    self.init(kind, every: every)
  }
}
