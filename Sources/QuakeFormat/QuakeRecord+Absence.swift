internal import QuakeModel

extension QuakeRecord {
  /// Whether the row describes no earthquake now: its event is withdrawn or superseded.
  var isPast: Bool { has(.withdrawnAt) || has(.supersededBy) }

  /// Whether its address is one of the web. A viewer would run, or open on its own machine, what other schemes
  /// name.
  var hasWebAddress: Bool {
    withUTF8(.url) { (url: UnsafeRawBufferPointer?) in
      guard let url else { return false }
      return ["http://", "https://"].contains { (scheme: String) in
        url.count > scheme.utf8.count
          && zip(url, scheme.utf8).allSatisfy { byte, letter in
            byte == letter || (0x41...0x5A).contains(byte) && byte | 0x20 == letter
          }
      }
    }
  }
}

/// The words that mark an event that is no earthquake of its own now.
enum PastEvent {
  /// The event type: QuakeML's word for an event that does not exist. An import rejects such events.
  static let type: StaticString = "not existing"
  /// The status: USGS's word.
  static let status: StaticString = "deleted"
}
